"""A call that carries another case's values is a bad call, or a sign of a bad join.

Both give the same pair of a missing and an extra call. What the request said tells them apart. It
named this case: the agent carried the other one's values, from stale context say, and the fault
stands. It named the other case and not this one: the response is right for what was asked, and the
trace was brought to the wrong case. Anything less clear decides nothing and is only said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agenttrace._dataclass import dataclass, replace
from agenttrace.domain import (
    Boundary,
    Case,
    Cause,
    Evidence,
    First,
    JsonValue,
    Missing,
    Owner,
    Place,
    Status,
    Unseen,
    Verdict,
    is_agents_own,
)
from agenttrace.records import canonical
from agenttrace.scoring._case_values import (
    Call,
    CaseValues,
    calls_of,
    leaves,
    owners_of,
    values_of,
)
from agenttrace.scoring._lineage_forms import is_moment
from agenttrace.scoring._lineage_needle import Needle
from agenttrace.scoring._lineage_search import holds
from agenttrace.scoring._lineage_sources import Source, timeline_of
from agenttrace.scoring._opaque import is_opaque

if TYPE_CHECKING:
    from agenttrace.scoring._protocols import ExpectedMasker

_MOST_MASKED: Final = 2_000
"""Cases whose values are masked to be compared with masked ones."""
_MOST_NAMED: Final = 3
_SMALLEST_ID: Final = 10_000


def told_by_text(
    verdict: Verdict,
    case: Case,
    evidence: Evidence,
    others: CaseValues,
    redactor: ExpectedMasker | None,
) -> Verdict:
    """The verdict with what the request's text says about whose run this is.

    Only rows that fail at the model are asked about: every other verdict stays as it is.

    Args:
        case: With its values in the form of the evidence.
    """
    if verdict.status is not Status.FAIL or verdict.first is not First.MODEL:
        return verdict
    wrong = list(_wrong_values(verdict))
    owners = _owners(case, evidence, others, redactor, [value for _, value in wrong])
    carried = [
        _Carried(owner, path, value)
        for path, value in wrong
        if (owner := owners.get(canonical(value))) is not None and owner != case.case_id
    ]
    if not carried:
        return verdict
    asked = _Request.of(evidence, verdict, is_keyed=redactor is not None)
    named = [one for one in carried if asked.names(one.value)]
    own = list(_values_apart(case, others, {one.owner for one in carried}))
    is_own_named = any(asked.may_name(value) for value in own)
    is_own_met = any(asked.has_met(value) for value in own)
    if (
        _is_told(named)
        and not (is_own_named or is_own_met)
        and asked.is_whole
        and len({one.owner for one in carried}) == 1
        and not _carries_any(evidence, own)
    ):
        return _broken_join(verdict, case, named[0])
    return replace(
        verdict, findings=(*verdict.findings, _finding(carried, asked, is_own_named=is_own_named))
    )


@dataclass(frozen=True, slots=True)
class _Carried:
    """A wrong value that is another case's own."""

    owner: str
    path: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class _Request:
    """What the run was asked, in system and user messages."""

    texts: tuple[Source, ...]
    met: tuple[Source, ...]
    """What the tools answered and the model said."""
    is_whole: bool
    """Whether every such message is on record, and readable."""

    @classmethod
    def of(cls, evidence: Evidence, verdict: Verdict, *, is_keyed: bool) -> _Request:
        line = timeline_of(evidence, verdict.chains)
        texts = tuple(one for one in line.sources if one.place in (Place.SYSTEM, Place.USER))
        met = (Place.TOOL_RESULT, Place.ASSISTANT)
        is_missing = any(gap is Unseen.MESSAGES for _, gap in line.gaps)
        is_user = any(one.place is Place.USER for one in texts)
        marks = ("[digest:",) if is_keyed else ("[digest:", "[masked:")
        is_hidden = line.is_digested or any(
            mark in one.content for one in texts if isinstance(one.content, str) for mark in marks
        )
        return cls(
            texts,
            tuple(one for one in line.sources if one.place in met),
            is_user and not is_missing and not is_hidden,
        )

    def names(self, value: JsonValue) -> bool:
        """Whether a user message holds a value itself.

        A system message is one for many cases, and its examples name none of them.
        """
        needle = Needle(value)
        return any(holds(one.content, needle) for one in self.texts if one.place is Place.USER)

    def may_name(self, value: JsonValue) -> bool:
        """Whether some message holds a value or a rendering of it."""
        needle = Needle(value)
        return any(
            holds(one.content, needle)
            or (isinstance(one.content, str) and needle.rendered(one.content) is not None)
            for one in self.texts
        )

    def has_met(self, value: JsonValue) -> bool:
        """Whether a tool's answer or the model's own text holds a value itself."""
        needle = Needle(value)
        return any(holds(one.content, needle) for one in self.met)


def _is_told(named: Sequence[_Carried]) -> bool:
    """Whether the values that a request names say which case it was made for.

    One amount or one date does not: "half of 500" and "the day after May 11" name what the right
    value is reckoned from, and an agent that reckons wrong takes it as it stands.
    """
    return any(not _is_reckoned(one.value) for one in named) or (
        len({canonical(one.value) for one in named}) > 1
    )


def _is_reckoned(value: JsonValue) -> bool:
    """Whether a value is an amount or a date; a long number that is not round is an id."""
    if isinstance(value, str):
        return is_moment(value)
    return not isinstance(value, int) or abs(value) < _SMALLEST_ID or value % 100 == 0


def _wrong_values(verdict: Verdict) -> Iterator[tuple[str, JsonValue]]:
    """What the model's calls hold where they leave the plan."""
    for one in verdict.divergences:
        if one.boundary is not Boundary.MODEL or isinstance(one.after, Missing):
            continue
        after, path = one.after, one.path
        if not path and isinstance(after, Mapping):
            after = after.get("args")
        for inner, value in leaves(after):
            yield path + inner, value


def _owners(
    case: Case,
    evidence: Evidence,
    others: CaseValues,
    redactor: ExpectedMasker | None,
    wrong: Sequence[JsonValue],
) -> Mapping[str, str]:
    """Whose each value is; masked values are found under what they were masked to."""
    if redactor is None or not any(is_opaque(value) for value in wrong):
        return others.owners
    if len(others.calls) > _MOST_MASKED:
        return others.owners
    form = redactor.expected_by(evidence)
    form.prepare(calls_of(case))
    masked: dict[str, list[Call]] = {
        case_id: [(name, form.arguments(arguments, name)) for name, arguments in listed]
        for case_id, listed in others.calls.items()
    }
    return {**others.owners, **owners_of(masked)}


def _values_apart(case: Case, others: CaseValues, owners: set[str]) -> Iterator[JsonValue]:
    """Values of this case, as they are and as they are masked, that the other ones do not have."""
    theirs = {
        canonical(value) for owner in owners for _, value in values_of(others.calls.get(owner, ()))
    }
    for _, value in values_of((*calls_of(case), *others.calls.get(case.case_id, ()))):
        if canonical(value) not in theirs:
            yield value


def _carries_any(evidence: Evidence, own: Sequence[JsonValue]) -> bool:
    """Whether some call of the model's holds a value of this case: then it worked on it."""
    needles = [Needle(value) for value in own]
    return any(
        holds(call.arguments, needle)
        for call in evidence.model
        if call.arguments is not None and is_agents_own(call)
        for needle in needles
    )


def _broken_join(verdict: Verdict, case: Case, found: _Carried) -> Verdict:
    cause = Cause(
        code="request-of-other-case",
        detail=f"the user's messages name {found.owner!r:.80} and not {case.case_id!r:.80}, and "
        f"the calls do what they ask for: see {found.path or 'the call':.80}",
    )
    return replace(
        verdict,
        status=Status.INCONCLUSIVE,
        first=First.JOIN,
        owner=Owner.EVALUATION_PLATFORM,
        divergences=(),
        also=(),
        recovered=False,
        lineage=None,
        causes=(cause,),
    )


def _finding(carried: Sequence[_Carried], asked: _Request, *, is_own_named: bool) -> Cause:
    listed = dict.fromkeys(one.owner for one in carried)
    named = ", ".join(f"{owner!r:.80}" for owner in list(listed)[:_MOST_NAMED])
    others = [one for one in carried if asked.names(one.value)]
    if is_own_named and not others:
        said = "the request names this case"
    elif is_own_named:
        said = "the request names both cases"
    elif not asked.is_whole:
        said = "the request's text is not on record, so the records may be of another case"
    elif len(listed) > 1 and others:
        said = "the request names values of several cases"
    elif others and not _is_told(others):
        said = "the request names it, and this case's may be reckoned from it"
    elif others:
        said = "the request names the other case, and the run met values of this one"
    else:
        said = "the request does not say which case it is"
    path = carried[0].path or "the call"
    return Cause(
        code="values-of-other-case",
        detail=f"{path:.80} holds a value that only {named} states; {said}",
    )
