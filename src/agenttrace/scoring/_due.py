"""The calls that a plan requires, in the form in which calls are compared with them."""

from __future__ import annotations

from agenttrace.domain import RequiredCall
from agenttrace.records import split_pointer
from agenttrace.scoring._declared import Declared
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._match import Due
from agenttrace.scoring._row import Row


def due_forms(row: Row, declared: Declared, *, adapted: bool) -> Due:
    """The required calls of a row after declared changes."""
    assert row.due is not None, "asked only where there is a plan"
    if declared.is_plain:
        return row.due
    made = [
        _due_form(call, declared, form, adapted=adapted)
        for call, form in zip(row.due.calls, row.due.forms, strict=True)
    ]
    return Due(made, row.case.ignore_args, row.sight.write)


def _due_form(
    call: RequiredCall, declared: Declared, own: CallForm, *, adapted: bool
) -> RequiredCall:
    """A required call after declared changes; a default is no literal where a rule speaks.

    Args:
        own: The call's own form, with the text that was made of it.
    """
    form = declared(own, adapted=adapted)
    if form is own:
        return call
    args = dict(form.args or {})
    for pointer in call.rules:
        name = split_pointer(pointer)[0] if pointer else ""
        if name in args and name not in call.arguments:
            del args[name]
    return RequiredCall(name=form.name, arguments=args, rules=call.rules, why=call.why)
