"""A call after every change that its contract declares and its tool's own schema states.

Contract order: envelope, prefix, name map, unit, rename, coerce, null, unknown, default,
normalize, fold. Both sides of a comparison are brought into this form, so that a declared change
is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import attrgetter

from agenttrace._dataclass import field_names, replace
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import Contract, Evidence, JsonObject, JsonValue, ToolContract
from agenttrace.records import JsonTextError, dump_json, parse_json
from agenttrace.scoring._declared_opaque import without_values
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._normalizers import normalizer
from agenttrace.scoring._number_places import Places, number_places, one_form
from agenttrace.scoring._numbers import is_number
from agenttrace.scoring._opaque import is_cut_down, is_opaque

if TYPE_CHECKING:
    from typing import Any, Final

Defaults = Mapping[str, Mapping[str, JsonValue]]
_BLANK: Final = ToolContract()
_work_of: Final = attrgetter(*(one for one in field_names(ToolContract) if one != "schema"))
"""All that is stated of a tool beside its schema; what is not stated is empty."""
_MAY_BE_RESPELLED: Final = (".0", "e+", "[digest:", "[masked:")
_ON_THE_WAY = ("unit", "rename", "coerce", "drop_null_optional", "drop_unknown", "defaults")


def tool_name(name: str, contract: Contract) -> str:
    """The executor's name of a tool: at most one prefix taken off, then the name map."""
    for prefix in sorted(contract.strip_prefix, key=len, reverse=True):
        if name.startswith(prefix):
            name = name.removeprefix(prefix)
            break
    return contract.name_map.get(name, name)


def stated_defaults(contract: Contract, evidence: Evidence) -> Defaults:
    """Defaults that the tools state themselves: in their schemas, or by having applied them."""
    found: dict[str, dict[str, JsonValue]] = {}
    for tool, stated in contract.tools.items():
        properties = stated.schema.get("properties") if stated.schema is not None else None
        if isinstance(properties, Mapping):
            for name, one in properties.items():
                if isinstance(one, Mapping) and "default" in one:
                    # A schema that the model is offered has the model's names.
                    own = stated.rename.get(name, name)
                    found.setdefault(tool, {})[own] = one["default"]
    for call in evidence.executor:
        if call.defaults and call.arguments is not None:
            for name in call.defaults:
                if name in call.arguments:
                    found.setdefault(call.name, {}).setdefault(name, call.arguments[name])
    return found


class Declared:
    """Applies one contract; what differs after it was declared by nobody."""

    def __init__(
        self,
        contract: Contract,
        defaults: Defaults | None = None,
        signatures: Mapping[str, JsonObject] | None = None,
    ) -> None:
        self.contract = contract
        self.defaults = defaults or {}
        self.signatures = signatures or {}
        self._changing = {name for name, one in contract.tools.items() if any(_work_of(one))}
        """Tools of which more than the schema is stated."""
        self._names: dict[str, str] = {}
        self.changes_calls = bool(
            self._changing
            or contract.envelope is not None
            or contract.strip_prefix
            or contract.name_map
        )
        """Whether more is declared than which values are equal, and defaults."""
        self.is_plain = not (
            self.changes_calls
            or self.defaults
            or self.signatures
            or any(one.schema is not None for one in contract.tools.values())
        )
        """Whether nothing is declared that could make a call another one."""
        self._numbers: dict[str, Places | None] = {}

    def __call__(self, form: CallForm, *, adapted: bool = False) -> CallForm:
        """The call in the form that the executor should see.

        Args:
            adapted: The call was seen after the model, so what is declared may be done already:
                nothing is scaled, or renamed back, a second time.
        """
        if self.is_plain or form.args is None or self._keeps(form):
            return form
        call = self.opened(form)
        name = self._name(call.name)
        args: JsonObject = call.args or {}
        declared = self.contract.tools.get(name)
        stated = self.defaults.get(name)
        if is_cut_down(args):
            return form.with_args(args, name)
        if declared is not None and name in self._changing:
            changed = _changed(args, _left_to_do(declared) if adapted else declared, stated)
            args = without_values(changed, declared, adapted=adapted)
        elif stated:
            args = {**stated, **args}
        args = self._one_form(name, args, declared)
        # A call that stays as it is keeps the text that was made of it.
        return form if args is form.args and name == form.name else form.with_args(args, name)

    def _name(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = tool_name(name, self.contract)
        return self._names[name]

    def _keeps(self, form: CallForm) -> bool:
        """Whether the text of a call shows already that nothing of it can become another.

        Where nothing is stated of a tool but types, only whole floats, and what stands for a value
        that is not there, are written in another way.
        """
        name = form.name
        if self.contract.envelope is not None or name in self._changing or name in self.defaults:
            return False
        if self._name(name) != name:
            return False
        try:
            return not any(sign in form.key for sign in _MAY_BE_RESPELLED)
        except (ValueError, TypeError):  # no JSON; what asks for its text says so
            return False

    def _one_form(self, name: str, args: JsonObject, declared: ToolContract | None) -> JsonObject:
        """Arguments whose numbers have one form, where the tool's types call them numbers."""
        if name not in self._numbers:
            signature = number_places(self.signatures.get(name)) or {}
            schema = number_places(declared.schema if declared is not None else None) or {}
            new_names = declared.rename if declared is not None else {}
            schema = {new_names.get(one, one): inside for one, inside in schema.items()}
            self._numbers[name] = {**signature, **schema} or None
        places = self._numbers[name]
        return args if places is None else one_form(args, places)  # type: ignore[return-value]

    def opened(self, form: CallForm) -> CallForm:
        """The call itself, taken out of its envelope where it stands in one."""
        envelope = self.contract.envelope
        if envelope is None or form.args is None or form.name != envelope.tool:
            return form
        args, name = form.args.get(envelope.arguments), form.args.get(envelope.name)
        if isinstance(args, Mapping) and isinstance(name, str):
            return CallForm(name, args, form.raw)
        return form

    def without(self, *parts: str) -> Declared:
        """The same contract with some parts of every tool's declarations left out."""
        if not self.contract.tools:
            return self
        blank = {part: getattr(_BLANK, part) for part in parts}
        tools = {tool: replace(one, **blank) for tool, one in self.contract.tools.items()}
        return Declared(replace(self.contract, tools=tools), self.defaults, self.signatures)

    def alike(self) -> Declared:
        """What is declared to be equal alone, without what is done to a call on its way."""
        if self.is_plain:
            return self
        tools = self.without(*_ON_THE_WAY).contract.tools
        return Declared(Contract(tools=tools), None, self.signatures)

    def envelope_strays(self, form: CallForm) -> dict[str, JsonValue]:
        """Keys that stand beside an envelope's own and so are no part of the call in it."""
        envelope = self.contract.envelope
        if envelope is None or form.args is None or form.name != envelope.tool:
            return {}
        own = (envelope.name, envelope.arguments)
        return {key: value for key, value in form.args.items() if key not in own}


def _left_to_do(declared: ToolContract) -> ToolContract:
    """What of a contract may still apply after the model.

    A unit whose argument keeps its name shows no sign of having been converted, so it is taken
    for done; so is a rename whose old name is also a new one.
    """
    unit = {name: how for name, how in declared.unit.items() if name in declared.rename}
    new_names = set(declared.rename.values())
    rename = {old: new for old, new in declared.rename.items() if old not in new_names}
    if len(unit) == len(declared.unit) and len(rename) == len(declared.rename):
        return declared
    return replace(declared, unit=unit, rename=rename)


def _changed(
    args: JsonObject, declared: ToolContract, stated: Mapping[str, JsonValue] | None
) -> JsonObject:
    out: dict[str, JsonValue] = dict(args)
    for name, unit in declared.unit.items():
        if name in out:
            out[name] = _scaled(out[name], unit)
    if declared.rename:
        out = {declared.rename.get(name, name): value for name, value in out.items()}
    for name, kind in declared.coerce.items():
        if name in out:
            out[name] = _read_as(out[name], kind)
    for name in declared.drop_null_optional:
        if name in out and out[name] is None:
            del out[name]
    if declared.drop_unknown:
        known = set(declared.drop_unknown)
        out = {name: value for name, value in out.items() if name in known}
    out = {**(stated or {}), **declared.defaults, **out}
    for name, how in declared.normalize.items():
        if name in out and not is_opaque(out[name]):
            out[name] = normalizer(how)(out[name])
    for name in declared.fold_case:
        value = out.get(name)
        if isinstance(value, str) and not is_opaque(value):
            out[name] = value.casefold()
    return out


def _scaled(value: JsonValue, unit: str) -> JsonValue:
    if not is_number(value):
        return value
    # Few tools declare units, and the module is not small.
    from decimal import Decimal, DecimalException, localcontext  # noqa: PLC0415

    try:
        with localcontext() as context:
            context.prec = 60
            number, factor = Decimal(repr(value)), Decimal(unit[1:])
            made = number * factor if unit[0] == "x" else number / factor
            return int(made) if made == made.to_integral_value() else float(made)
    except (DecimalException, ValueError, OverflowError):
        return value


def _read_as(value: JsonValue, kind: str) -> JsonValue:
    if is_opaque(value):
        return value
    if isinstance(value, str):
        return _text_as(value, kind)
    return dump_json(value) if kind == "string" and is_number(value) else value


def _text_as(text: str, kind: str) -> JsonValue:
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    if kind in ("integer", "number"):
        try:
            read: Any = parse_json(text.strip().removeprefix("+")).value
        except (JsonTextError, json.JSONDecodeError):
            return _leading_zeros(text) if kind == "integer" else text
        if is_number(read) and (kind == "number" or read.__class__ is int):
            return read  # type: ignore[no-any-return]
    return text


def _leading_zeros(text: str) -> JsonValue:
    digits = text.strip()
    if digits.isascii() and digits.lstrip("+-").isdigit() and len(digits) < 4300:
        return int(digits)
    return text
