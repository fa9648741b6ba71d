"""What a verdict says of its case, in the form that the evidence has."""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace._dataclass import replace
from agenttrace._late import TYPE_CHECKING
from agenttrace.domain import BoundaryFigures, Case, Divergence, Evidence, Lineage, Missing, Verdict
from agenttrace.scoring._expected import COMPARED, listed_calls
from agenttrace.scoring._opaque import holds_opaque

if TYPE_CHECKING:
    from typing import Any, Final

    from agenttrace.scoring._protocols import ExpectedMasker, ExpectedValues

_COMPARED: Final = frozenset(kind.value for kind in COMPARED)


def hide_expected(
    verdict: Verdict,
    case: Case,
    evidence: Evidence,
    redactor: ExpectedMasker,
    *,
    is_judged: bool = False,
) -> Verdict:
    """The verdict without the secrets that its case states.

    Args:
        is_judged: The case was brought into the evidence's form before it was judged by: patterns
            and bounds are left to hide, which had to stay as they are until then.
    """
    calls = listed_calls(case)
    if is_judged and all(r.kind in COMPARED for call in calls for r in call.rules.values()):
        return verdict
    form = redactor.expected_by(evidence)
    form.prepare((call.name, call.arguments) for call in calls)

    def figures(given: BoundaryFigures | None) -> BoundaryFigures | None:
        if given is None:
            return None
        return replace(given, missing=tuple(_call(form, one, is_judged) for one in given.missing))

    def divergence(given: Divergence) -> Divergence:
        before = given.before
        if isinstance(before, Missing):
            return given
        if given.call.startswith("required/"):
            return replace(given, before=_call(form, before, is_judged))
        if is_judged or holds_opaque(before) or not given.path:
            return given
        return replace(given, before=form.value(before, given.path))

    def lineage(given: Lineage | None) -> Lineage | None:
        if given is None or isinstance(given.expected_value, Missing):
            return given
        if is_judged or holds_opaque(given.expected_value) or not given.path:
            return given
        return replace(given, expected_value=form.value(given.expected_value, given.path))

    return replace(
        verdict,
        lineage=lineage(verdict.lineage),
        boundaries={at: figures(one) for at, one in verdict.boundaries.items()},
        divergences=tuple(divergence(one) for one in verdict.divergences),
    )


def _call(form: ExpectedValues, plain: Any, is_judged: bool) -> Any:
    """A required call as a verdict holds it."""
    if not isinstance(plain, Mapping) or "name" not in plain:
        return plain
    name = plain["name"]
    out = dict(plain)
    if not is_judged and "args" in plain:
        out["args"] = form.arguments(plain["args"], name)
    if "rules" in plain:
        out["rules"] = {
            at: {
                word: one
                if word == "normalizer" or (is_judged and word in _COMPARED)
                else form.value(one, at, name)
                for word, one in rule.items()
            }
            for at, rule in plain["rules"].items()
        }
    return out
