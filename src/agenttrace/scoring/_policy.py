"""Rules over the calls of one boundary: forbidden, order, counts, repeats, outcome, leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agenttrace.domain import Boundary, Case, Evidence, ForbiddenCall, Missing
from agenttrace.records import canonical
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._leaks import broken_leaks
from agenttrace.scoring._match import value_at
from agenttrace.scoring._rules import accepts
from agenttrace.scoring._sight import Entry, Sight


def observed_calls(
    evidence: Evidence, boundary: Boundary, agents: frozenset[str] | None = None
) -> list[Entry] | None:
    """The agent's own calls at one boundary, in causal order, one for each run of a body.

    Args:
        agents: Only the calls of these; None: of all.

    Returns:
        None where the boundary was not observed. Refused adapter records and executions whose
        arguments could not be read take no part; a model's call whose text is no JSON object
        stays, and matches nothing.
    """
    return Sight(evidence).calls(boundary, agents)


def broken_rules(case: Case, evidence: Evidence, boundary: Boundary) -> tuple[str, ...]:
    """Rules that the calls of one boundary break, by their stable names, sorted.

    Rules about plan, order and counts speak of the case's agents; `forbidden` of all. Where the
    boundary was not observed, none of these is broken: nothing is known of its calls.
    """
    return rules_broken(case, Sight(evidence), boundary)


def rules_broken(case: Case, sight: Sight, boundary: Boundary) -> tuple[str, ...]:
    """`broken_rules`, of records that were looked at already."""
    evidence = sight.evidence
    if not (has_call_rules(case) or case.outcome or case.leak):
        return ()
    every = sight.calls(boundary)
    if every is None:
        return tuple(sorted([*_outcome(case, evidence), *broken_leaks(case, evidence)]))
    mine = [s for s in every if case.agents is None or s.call.agent in case.agents]
    forms = [s.form for s in mine]
    return tuple(
        sorted(
            [
                *_forbidden(case, [s.form for s in every]),
                *_orders(case, mine),
                *_counts(case, forms),
                *_repeats(case, forms),
                *_outcome(case, evidence),
                *broken_leaks(case, evidence),
            ]
        )
    )


def _orders(case: Case, seen: Sequence[Entry]) -> set[str]:
    if not (case.ordered or case.sequence or case.states):
        return set()
    # Most cases ask for no order, and what judges one is a good part of the scorer.
    from agenttrace.scoring._unordered import broken_orders  # noqa: PLC0415

    return broken_orders(case, [(s.index, s.call, s.form) for s in seen])


def has_call_rules(case: Case) -> bool:
    """Whether a case asks anything of the calls beside its plan."""
    return bool(
        case.forbidden
        or case.ordered
        or case.sequence
        or case.states
        or case.max_calls
        or case.min_calls
        or case.once_per
    )


def is_forbidden(rule: ForbiddenCall, form: CallForm) -> bool:
    """Whether a call is what a rule forbids: any call of the tool, or one with those arguments."""
    if form.name != rule.name:
        return False
    if rule.arguments is None:
        return True
    return form.args is not None and canonical(form.args) == canonical(rule.arguments)


def _forbidden(case: Case, forms: Sequence[CallForm]) -> list[str]:
    return [
        f"forbidden:{rule.name}"
        for rule in case.forbidden
        if any(is_forbidden(rule, form) for form in forms)
    ]


def _counts(case: Case, forms: Sequence[CallForm]) -> list[str]:
    made = Counter(form.name for form in forms)
    return [f"max_calls:{n}" for n, top in case.max_calls.items() if made[n] > top] + [
        f"min_calls:{n}" for n, low in case.min_calls.items() if made[n] < low
    ]


def _repeats(case: Case, forms: Sequence[CallForm]) -> list[str]:
    broken = []
    for name, pointer in case.once_per.items():
        used: Counter[str] = Counter()
        for form in forms:
            if form.name == name and form.args is not None:
                value = value_at(form.args, pointer)
                if not isinstance(value, Missing):
                    used[canonical(value)] += 1
        if any(count > 1 for count in used.values()):
            broken.append(f"once_per:{name}")
    return broken


def _outcome(case: Case, evidence: Evidence) -> list[str]:
    state = evidence.outcome.final_state
    if state is None:
        return []
    return [
        f"outcome:{pointer}"
        for pointer, rule in case.outcome.items()
        if not accepts(rule, value_at(state, pointer), pointer)
    ]
