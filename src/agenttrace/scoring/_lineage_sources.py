"""The texts and values of a run in the order in which they came to be, and what is not on record.

One thing is often recorded in several ways: a tool's result by its execution, in the message that
handed it back, and again in every later request. All are sources, and the first that holds a value
counts, so that which of them were recorded changes little.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import is_
from typing import Final

from agenttrace._dataclass import dataclass, field
from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Chain,
    Evidence,
    Execution,
    JsonValue,
    Message,
    Phase,
    Place,
    Response,
    ToolCall,
    Unseen,
    is_agents_own,
)
from agenttrace.scoring._forms import in_causal_order

Order = tuple[float, int, int]
"""Turn, stage within the turn, place within the stage."""

MESSAGES: Final = 0
TEXT: Final = 1
STAGE_OF: Final = {Boundary.MODEL: 2, Boundary.ADAPTER: 3, Boundary.EXECUTOR: 4}
RESULTS: Final = 5
SHOWN: Final = 6
_PLACE_OF: Final = {
    Boundary.MODEL: Place.ARGUMENTS,
    Boundary.ADAPTER: Place.ADAPTER,
    Boundary.EXECUTOR: Place.EXECUTOR,
}
_ROLES: Final = {"system": Place.SYSTEM, "developer": Place.SYSTEM, "assistant": Place.ASSISTANT}
_TOOL_ROLES: Final = frozenset({"tool", "function"})
_STEP: Final = 1e-6


@dataclass(slots=True)
class Source:
    """One text or value of a run."""

    order: Order
    place: Place
    turn: int | None
    content: JsonValue
    call: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """The chain that a record belongs to, and when its call was made."""

    key: str
    tool: str
    turn: int | None
    order: float
    index: int


@dataclass(slots=True)
class Timeline:
    """What a run held, in order."""

    sources: list[Source] = field(default_factory=list)
    gaps: list[tuple[Order, Unseen]] = field(default_factory=list)
    """What is not on record, where it would stand."""
    homes: Mapping[str, Home] = field(default_factory=dict)
    """`ref` of a call's record to its chain."""
    keys: Sequence[str] = ()
    """Keys of the chains, in the order of their calls."""
    is_foreign: bool = False
    """Whether somebody else than our recorder may have masked values, in forms of their own."""
    is_digested: bool = False
    """Whether every value is a digest."""


def timeline_of(evidence: Evidence, chains: Sequence[Chain]) -> Timeline:
    """Everything recorded that could have held a value, the earliest first."""
    return _Builder(evidence, chains).build()


class _Builder:
    def __init__(self, evidence: Evidence, chains: Sequence[Chain]) -> None:
        self._evidence = evidence
        masking = evidence.integrity.masking
        self._line = Timeline(
            is_foreign=masking is None or masking.key_id is None,
            is_digested=masking is not None and masking.digests,
        )
        self._homes = _homes(evidence, chains)
        self._by_id: dict[str | int, list[ToolCall]] = defaultdict(list)
        self._by_turn: dict[int, list[ToolCall]] = defaultdict(list)
        for boundary in BOUNDARIES:
            for call in evidence.at(boundary):
                if call.call_id is not None and call.ref in self._homes:
                    self._by_id[call.call_id].append(call)
        for call in evidence.model:
            if call.turn is not None and call.ref in self._homes:
                self._by_turn[call.turn].append(call)
        for known in self._by_id.values():
            known.sort(key=lambda call: self._homes[call.ref].order)
        self._orders = {
            call_id: [self._homes[call.ref].order for call in known]
            for call_id, known in self._by_id.items()
        }
        self._of_turn: dict[tuple[str | int, int | None], ToolCall] = {}
        for call_id, known in self._by_id.items():
            for call in known:
                self._of_turn.setdefault((call_id, call.turn), call)
        self._unreturned = {run.call_id for run in evidence.executor if not run.result_observed}
        self._turns = sorted(self._by_turn)
        self._answered: set[str] = set()

    def build(self) -> Timeline:
        line = self._line
        self._add_responses()
        self._add_calls()
        self._add_results()
        self._add_missing_results()
        line.sources.sort(key=lambda one: one.order)
        line.gaps.sort()
        line.homes = self._homes
        ordered = sorted(self._homes.values(), key=lambda home: (home.order, home.index))
        line.keys = list(dict.fromkeys(home.key for home in ordered))
        return line

    def _add_responses(self) -> None:
        evidence = self._evidence
        told, responses = evidence.outcome.messages, evidence.responses or ()
        shown = [message for response in responses for message in response.messages]
        for response in responses:
            if response.phase is not Phase.RUN:
                continue  # a judge's prompt states what was expected, and nobody's agent saw it
            turn = response.turn
            for message in response.messages:
                self._add_message(message, turn if message.turn is None else message.turn, led=True)
            if response.text is not None:
                self._add((turn or 0, TEXT, 0), Place.ASSISTANT, turn, response.text)
            elif response.text_length:
                self._line.gaps.append(((turn or 0, TEXT, 0), Unseen.TEXTS))
        if len(told) == len(shown) and all(map(is_, told, shown)):
            self._add_unasked([one for one in responses if one.phase is Phase.RUN])
            return
        last = None
        for message in told:
            last = message.turn if message.turn is not None else last
            self._add_message(message, last, led=False)

    def _add_unasked(self, responses: Sequence[Response]) -> None:
        """Note requests of which no message is on record although they must have held some."""
        if not responses:
            self._line.gaps.append(((0, MESSAGES, 0), Unseen.MESSAGES))
        had_calls: dict[str | None, bool] = {}
        for response in responses:
            if not response.messages and had_calls.get(response.agent, True):
                gap = (response.turn or 0, MESSAGES, 0)
                self._line.gaps.append((gap, Unseen.MESSAGES))
            had_calls[response.agent] = response.calls > 0

    def _add_message(self, message: Message, turn: int | None, *, led: bool) -> None:
        index = len(self._line.sources)
        place = _ROLES.get(message.role, Place.USER)
        order: Order = (turn or 0, MESSAGES, index)
        call = None
        if message.role in _TOOL_ROLES:
            place = Place.TOOL_RESULT
            call = self._call_of(message, turn, led=led)
            if call is not None:
                home = self._homes[call.ref]
                order, turn = (home.order, SHOWN, index), home.turn
                self._answered.add(home.key)
        if message.content is None:
            if message.digest is not None or message.length:
                self._line.gaps.append((order, Unseen.MESSAGES))
            return
        self._add(order, place, turn, message.content, call)

    def _call_of(self, message: Message, turn: int | None, *, led: bool) -> ToolCall | None:
        """The call that a tool's message answers.

        Args:
            led: The turn is that of the response it led to, so the call is of an earlier one.
        """
        known = self._by_id.get(message.call_id, []) if message.call_id is not None else []
        if turn is None:
            return known[0] if known else None
        if known and message.call_id is not None:
            return _last_before(known, turn, self._orders[message.call_id])
        last = bisect_left(self._turns, turn) - 1
        if last < 0 and not led:
            last = bisect_left(self._turns, turn + 1) - 1
        if message.call_id is not None or last < 0:
            return None
        calls = self._by_turn[self._turns[last]]
        if message.tool is not None:
            calls = [call for call in calls if call.name == message.tool]
        return calls[0] if len(calls) == 1 else None

    def _add_calls(self) -> None:
        for boundary in BOUNDARIES:
            for _, call in in_causal_order(self._evidence, boundary):
                home = self._homes.get(call.ref)
                if home is None or not is_agents_own(call):
                    continue
                order = (home.order, STAGE_OF[boundary], home.index)
                content = call.raw if call.arguments is None else call.arguments
                if content is not None:
                    self._add(order, _PLACE_OF[boundary], home.turn, content, call)

    def _add_results(self) -> None:
        for index, run in in_causal_order(self._evidence, Boundary.EXECUTOR):
            home = self._homes.get(run.ref)
            if home is None or not is_agents_own(run) or not isinstance(run, Execution):
                continue
            order = (home.order, RESULTS, index)
            if run.error is not None:
                self._answered.add(home.key)
                self._add(order, Place.TOOL_RESULT, home.turn, run.error, run)
            elif run.result_observed:
                self._answered.add(home.key)
                self._add(order, Place.TOOL_RESULT, home.turn, run.result, run)
        for call in self._evidence.adapter:
            if call.error is not None and (home := self._homes.get(call.ref)) is not None:
                self._answered.add(home.key)
                order = (home.order, RESULTS, home.index)
                self._add(order, Place.TOOL_RESULT, home.turn, call.error, call)
        for shown in self._evidence.conduct.results_shown:
            answered = self._shown_call(shown.call_id, shown.turn, shown.position)
            index = len(self._line.sources)
            if answered is None:
                order = (shown.turn or 0, SHOWN, index)
                self._add(order, Place.TOOL_RESULT, shown.turn, shown.shown)
            else:
                home = self._homes[answered.ref]
                self._answered.add(home.key)
                order = (home.order, SHOWN, index)
                self._add(order, Place.TOOL_RESULT, home.turn, shown.shown, answered)

    def _shown_call(
        self, call_id: str | int | None, turn: int | None, position: int | None
    ) -> ToolCall | None:
        calls = self._by_turn.get(turn, []) if turn is not None else []
        if call_id is not None:
            known = self._by_id.get(call_id, [])
            return self._of_turn.get((call_id, turn), known[0] if known else None)
        if position is None:
            return calls[0] if len(calls) == 1 else None
        return calls[position] if 0 <= position < len(calls) else None

    def _add_missing_results(self) -> None:
        """Note calls whose answer is not on record, where it may have been given.

        After the last answer of the model nothing was handed back to it.
        """
        evidence = self._evidence
        last = max((one.turn or 0 for one in evidence.responses or ()), default=0)
        last = max((last, *(call.turn or 0 for call in evidence.model)))
        for call in evidence.model or evidence.adapter:
            home = self._homes.get(call.ref)
            if home is None or home.key in self._answered or home.order >= last > 0:
                continue
            ran = call.call_id is not None and call.call_id in self._unreturned
            if ran or not evidence.sees(Boundary.EXECUTOR, call.name):
                self._line.gaps.append(((home.order, RESULTS, home.index), Unseen.RESULTS))

    def _add(
        self,
        order: Order,
        place: Place,
        turn: int | None,
        content: JsonValue,
        call: ToolCall | None = None,
    ) -> None:
        key = None if call is None else self._homes[call.ref].key
        tool = None if call is None else call.name
        self._line.sources.append(Source(order, place, turn, content, key, tool))


def _last_before(calls: Sequence[ToolCall], turn: int, orders: Sequence[float]) -> ToolCall:
    """Of several calls under one id, in order, the last that was made before a turn, or the first.

    Args:
        orders: When each of the calls was made.
    """
    at = bisect_left(orders, turn)
    return calls[bisect_left(orders, orders[at - 1])] if at else calls[0]


def _homes(evidence: Evidence, chains: Sequence[Chain]) -> dict[str, Home]:
    """Each record's chain, with the turn of its call.

    A chain without a record at the model stands after the last response that is proven to be
    earlier, or after the last one where nothing is proven.
    """
    model = {call.ref: (n, call) for n, call in enumerate(evidence.model)}
    ranks = {call.ref: n for n, call in enumerate(_others(evidence))}
    calls = {call.ref: call for call in _others(evidence)}
    latest = max((call.turn or 0 for call in evidence.model), default=0)
    numbered = sorted((c.seq, c.turn or 0) for c in evidence.model if c.seq is not None)
    reached = list(accumulate((turn for _, turn in numbered), max))
    homes: dict[str, Home] = {}
    for chain in chains:
        refs = [ref for boundary in BOUNDARIES for ref in chain.records.get(boundary, ())]
        lead = refs[0] if refs else ""
        if lead in model:
            index, call = model[lead]
            order = _STEP * (index + 1) if call.turn is None else float(call.turn)
            home = Home(chain.key, chain.name, call.turn, order, index)
        elif lead in calls:
            call, rank = calls[lead], ranks[lead]
            base = latest
            if call.seq is not None and len(numbered) == len(evidence.model):
                before = bisect_left(numbered, (call.seq, 0))
                base = reached[before - 1] if before else 0
            home = Home(chain.key, chain.name, call.turn, base + _STEP * (rank + 1), rank)
        else:
            continue
        homes.update(dict.fromkeys(refs, home))
    return homes


def _others(evidence: Evidence) -> Iterator[ToolCall]:
    for boundary in (Boundary.ADAPTER, Boundary.EXECUTOR):
        yield from (call for _, call in in_causal_order(evidence, boundary))
