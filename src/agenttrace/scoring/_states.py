"""State machines over the calls of one boundary: which call may be made in which state.

A call that fits no step is not the machine's, in whatever state it stands. A machine that met a
call it does not allow is broken and asks no more; it has no state from which to go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from agenttrace._dataclass import dataclass
from agenttrace.domain import StateMachine, StateStep
from agenttrace.scoring._forms import CallForm
from agenttrace.scoring._order import fits_side, key_at


@dataclass(frozen=True, slots=True)
class Stray:
    """A call that a machine does not allow in the state it stands in."""

    index: int
    """Among the calls that were asked about."""
    state: str


def first_stray(machine: StateMachine, forms: Sequence[CallForm]) -> Stray | None:
    """The first call that fits a step of the machine, and none that leaves the current state."""
    return _run(machine, forms)[0]


def is_broken(machine: StateMachine, forms: Sequence[CallForm]) -> bool:
    """Whether a call strayed, or the calls end in a state that is none of `end`.

    With `per` there is one machine for each tuple of values; one that no call began has no end.
    """
    stray, states = _run(machine, forms)
    if stray is not None:
        return True
    return machine.end is not None and any(state not in machine.end for state in states)


def may_follow(machine: StateMachine, state: str) -> list[str]:
    """Names of the calls that leave a state, in the order of the steps."""
    return list(dict.fromkeys(one.on.name for one in machine.steps if one.source == state))


def _run(machine: StateMachine, forms: Sequence[CallForm]) -> tuple[Stray | None, list[str]]:
    """The first stray call, and the states at the end."""
    steps: dict[str, list[StateStep]] = defaultdict(list)
    for one in machine.steps:
        steps[one.on.name].append(one)
    states: dict[str, str] = {} if machine.per else {key_at(CallForm("", {}), ()): machine.start}
    for index, form in enumerate(forms):
        fitting = [one for one in steps.get(form.name, ()) if fits_side(form, one.on)]
        if not fitting:
            continue
        key = key_at(form, machine.per)
        state = states.get(key, machine.start)
        step = next((one for one in fitting if one.source == state), None)
        if step is None:
            return Stray(index, state), []
        states[key] = step.target
    return None, list(states.values())
