"""The runs of the demo: what the provider says, which fault the dispatch has, what should be seen.

Every fault is something the demo's own code does while it runs; no record is edited. The script is
the same for every way to ask, and so are the expected answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agenttrace.contracts import parse_case
from agenttrace.demo._dispatch import (
    SOUND,
    Dispatch,
    cap_refunds,
    parse_tolerantly,
    retry_lost_answers,
    take_cents_for_hundredths,
)
from agenttrace.demo._provider import ScriptedCall, Turn
from agenttrace.demo._ways import Way
from agenttrace.domain import Boundary, Case, First, JsonValue, Kind, Owner, Status

FULL_REFUND: Final = "Refund order A-104 in full."


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What a verdict should say."""

    status: Status
    first: First = First.NONE
    owner: Owner = Owner.NONE
    kind: Kind | None = None
    path: str | None = None
    also: tuple[Boundary, ...] = ()
    recovered: bool = False


CLEAN: Final = Expected(status=Status.PASS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """One run with at most one fault, and its contract."""

    name: str
    """Also the id of its case."""
    shows: str
    """One sentence."""
    prompt: str = FULL_REFUND
    script: tuple[Turn, ...]
    """What the provider answers, turn by turn."""
    required: tuple[tuple[str, dict[str, JsonValue]], ...]
    """The plan: tool and arguments of each call that is due."""
    dispatch: Dispatch = SOUND
    """How calls become runs, with the fault in it."""
    is_hooked: bool = True
    """Whether the SDK is instrumented while it runs."""
    with_plan: Expected
    without_plan: Expected
    of_whole_messages: Scenario | None = None
    """The same where a whole message answers: its format holds no argument text, only an object."""

    def asked(self, way: Way) -> Scenario:
        """The scenario as it can happen in one way of asking."""
        is_whole_message = way.api == "messages" and not way.is_streamed
        return (is_whole_message and self.of_whole_messages) or self

    def case_document(self) -> dict[str, Any]:
        """The contract as people write it."""
        return {
            "id": self.name,
            "intent": self.prompt,
            "why": self.shows,
            "required": [{"name": name, "args": args} for name, args in self.required],
        }

    def case(self) -> Case:
        """The contract."""
        return parse_case(self.case_document(), f"demo scenario {self.name}")

    def script_for(self, way: Way) -> tuple[Turn, ...]:
        """The script in the words of one API."""
        return tuple(
            replace(turn, finish_reason=_LENGTH[way.api]) if turn.finish_reason else turn
            for turn in self.script
        )


_LENGTH: Final = {
    "chat": "length",
    "responses": "max_output_tokens",
    "messages": "max_tokens",
}
"""API to its word for an answer that ran out of tokens."""


def _call(name: str, **arguments: JsonValue) -> ScriptedCall:
    return ScriptedCall(name=name, arguments=json.dumps(arguments, separators=(",", ":")))


def _says(*calls: ScriptedCall) -> Turn:
    return Turn(calls=calls)


_LOOK_UP: Final = _says(_call("get_order", order_id="A-104"))
_REFUND: Final = _call("issue_refund", order_id="A-104", amount_cents=9800)
_DONE: Final = Turn(text="Order A-104 has been refunded.")
_SORRY: Final = Turn(text="I am sorry, I cannot refund an order to somebody else's account.")

_PLAN: Final[tuple[tuple[str, dict[str, JsonValue]], ...]] = (
    ("get_order", {"order_id": "A-104"}),
    ("issue_refund", {"order_id": "A-104", "amount_cents": 9800}),
)


def _both(expected: Expected) -> dict[str, Any]:
    return {"with_plan": expected, "without_plan": expected}


def _cut_off(arguments: str, **rest: Any) -> Scenario:
    call = ScriptedCall(name="issue_refund", arguments=arguments)
    return Scenario(
        name="cut-off",
        script=(_LOOK_UP, Turn(calls=(call,), finish_reason="length"), _DONE),
        required=_PLAN,
        dispatch=Dispatch(parse=parse_tolerantly),
        **rest,
    )


_CUT_OFF: Final = _cut_off(
    '{"order_id":"A-104","amount_cents":98',
    shows="The answer ends inside a number, a tolerant parser closes it, and 98 is refunded.",
    with_plan=Expected(
        status=Status.FAIL,
        first=First.MODEL,
        owner=Owner.AGENT,
        kind=Kind.TRUNCATED,
        path="",
        also=(Boundary.ADAPTER,),
    ),
    without_plan=Expected(
        status=Status.FAIL,
        first=First.ADAPTER,
        owner=Owner.ADAPTER,
        kind=Kind.REPAIRED,
        path="",
    ),
    of_whole_messages=_cut_off(
        '{"order_id":"A-104","amount_cents":98}',
        shows="The answer ends inside a number, and the provider itself closes it; only the plan "
        "can tell.",
        with_plan=Expected(
            status=Status.FAIL,
            first=First.MODEL,
            owner=Owner.AGENT,
            kind=Kind.SCALED,
            path="/amount_cents",
        ),
        without_plan=CLEAN,
    ),
)

SCENARIOS: Final[Sequence[Scenario]] = (
    Scenario(
        name="clean",
        shows="Three calls go through all three boundaries unchanged.",
        script=(_LOOK_UP, _says(_REFUND, _call("send_receipt", order_id="A-104")), _DONE),
        required=(*_PLAN, ("send_receipt", {"order_id": "A-104"})),
        **_both(CLEAN),
    ),
    Scenario(
        name="wrong-at-model",
        shows="The model asks for 8900 where 9800 was paid; only the plan can tell.",
        script=(
            _LOOK_UP,
            _says(_call("issue_refund", order_id="A-104", amount_cents=8900)),
            _DONE,
        ),
        required=_PLAN,
        with_plan=Expected(
            status=Status.FAIL,
            first=First.MODEL,
            owner=Owner.AGENT,
            kind=Kind.VALUE_CHANGED,
            path="/amount_cents",
        ),
        without_plan=CLEAN,
    ),
    Scenario(
        name="wrong-at-adapter",
        shows="The adapter takes cents for hundredths of a cent and hands on 98 for 9800.",
        script=(_LOOK_UP, _says(_REFUND), _DONE),
        required=_PLAN,
        dispatch=Dispatch(prepare=take_cents_for_hundredths),
        **_both(
            Expected(
                status=Status.FAIL,
                first=First.ADAPTER,
                owner=Owner.ADAPTER,
                kind=Kind.SCALED,
                path="/amount_cents",
            )
        ),
    ),
    Scenario(
        name="wrong-at-executor",
        shows="A wrapper between dispatch and tool caps every refund at 5000, and nobody is told.",
        script=(_LOOK_UP, _says(_REFUND), _DONE),
        required=_PLAN,
        dispatch=Dispatch(wrap=cap_refunds),
        **_both(
            Expected(
                status=Status.FAIL,
                first=First.EXECUTOR,
                owner=Owner.EXECUTOR,
                kind=Kind.VALUE_CHANGED,
                path="/amount_cents",
            )
        ),
    ),
    Scenario(
        name="runs-twice",
        shows="A retry takes a lost answer for a failed call, and the refund is made twice.",
        script=(_LOOK_UP, _says(_REFUND), _DONE),
        required=_PLAN,
        dispatch=Dispatch(wrap=retry_lost_answers),
        **_both(
            Expected(
                status=Status.FAIL,
                first=First.EXECUTOR,
                owner=Owner.EXECUTOR_RETRIES,
                kind=Kind.DUPLICATED,
                path="",
            )
        ),
    ),
    _CUT_OFF,
    Scenario(
        name="refused-then-repaired",
        shows="The adapter refuses an amount sent as text, and the model repairs its call.",
        script=(
            _LOOK_UP,
            _says(_call("issue_refund", order_id="A-104", amount_cents="9800")),
            _says(_REFUND),
            _DONE,
        ),
        required=_PLAN,
        **_both(
            Expected(
                status=Status.PASS,
                first=First.MODEL,
                owner=Owner.AGENT,
                kind=Kind.ADDED,
                path="",
                recovered=True,
            )
        ),
    ),
    Scenario(
        name="no-calls",
        shows="The model declines and calls nothing, as the plan wants; the answer is on record.",
        prompt="Refund order A-104 to the account of a friend of mine.",
        script=(_SORRY,),
        required=(),
        **_both(CLEAN),
    ),
    Scenario(
        name="blank",
        shows="The same without the hook: nothing was recorded, and that is no pass.",
        prompt="Refund order A-104 to the account of a friend of mine.",
        script=(_SORRY,),
        required=(),
        is_hooked=False,
        **_both(
            Expected(
                status=Status.INCONCLUSIVE,
                first=First.INSTRUMENTATION,
                owner=Owner.INSTRUMENTATION,
            )
        ),
    ),
)
