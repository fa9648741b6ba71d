"""What happens to calls on their way, each beside the case that it is judged by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agenttrace.domain import (
    Boundary,
    Case,
    Conduct,
    Evidence,
    JsonObject,
    Response,
    RunAttempt,
    Verdict,
)
from agenttrace.scoring import score
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    contract,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
)

MODEL, ADAPTER, EXECUTOR = Boundary
ASKED = case(due())
OTHER = {**ARGS, "cents": 8900}
CUT = '{"order": "A-104", "cents": 98'
PART = {"order": "A-104", "cents": 98}

SITUATIONS: dict[str, Callable[[], Verdict]] = {}


def situation(what: str, made: Evidence, asked: Case | None = ASKED) -> None:
    """The verdict on one row of the page."""
    assert what not in SITUATIONS, what
    SITUATIONS[what] = lambda: score(asked, made)


def handed(before: JsonObject, after: JsonObject) -> Evidence:
    """The adapter made other arguments of a call, and the tool ran on them."""
    return evidence([model_call(args=before)], [adapter_call(args=after)], [execution(args=after)])


def entered(before: JsonObject, after: JsonObject, **parts: object) -> Evidence:
    """The tool was entered with other arguments than the adapter had handed on."""
    return evidence(
        [model_call(args=before)], [adapter_call(args=before)], [execution(args=after)], **parts
    )


# One value

for what, before, after in (
    ("a text was cut at a limit on its way", "a long note", "a long"),
    ("an identifier moved to the next number that a double can hold", 2**60 + 1, 2**60),
    ("an amount was divided by 100", 9800, 98),
    ("a time was moved to another zone", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z"),
    ("a text came in another Unicode form", "caf\u00e9", "cafe\u0301"),
    ("a text came in other case", "EUR", "eur"),
    ("a text came with other blanks", "A 104", "A104"),
    ("a list came in another order", [1, 2, 3], [3, 2, 1]),
    ("an object came as its own JSON text", {"a": 1}, '{"a": 1}'),
    ("a text became the number that it spells", "9800", 9800),
    ("a value became another", "A-104", "B-220"),
):
    situation(what, handed({"v": before}, {"v": after}), no_plan())
situation(
    "a mask was written into the live call",
    entered(ARGS, {**ARGS, "order": "[REDACTED]"}),
    no_plan(),
)
situation("an argument went on under another name", handed({"a": 1}, {"b": 1}), no_plan())
situation(
    "an argument that the adapter does not know was dropped without a word",
    handed(ARGS, {"order": "A-104"}),
    no_plan(),
)
situation("an argument was put in that nobody asked for", handed({}, {"v": 1}), no_plan())
situation(
    "an argument was lost between validation and the tool",
    entered(ARGS, {"order": "A-104"}),
)
situation(
    "a default that the tool states was filled in",
    handed({}, {"v": 1}),
    no_plan(contract=contract(defaults={"v": 1})),
)
situation(
    "a text became a number, as the contract declares",
    handed({"v": "9800"}, {"v": 9800}),
    no_plan(contract=contract(coerce={"v": "integer"})),
)
situation(
    "a text became a number by chance, and the plan has that number",
    handed({"v": "9800"}, {"v": 9800}),
    case(due(args={"v": 9800})),
)
situation(
    "an argument that the tool does not know was dropped, as the contract declares",
    handed(ARGS, {"order": "A-104"}),
    no_plan(contract=contract(drop_unknown=("order",))),
)
situation(
    "a declared change was due and not made",
    handed({"v": "9800"}, {"v": "9800"}),
    no_plan(contract=contract(coerce={"v": "integer"})),
)

# Text that is no call

situation(
    "argument text was cut off, nothing ran, and a plan asks for the call",
    evidence([model_call(raw=CUT)], [adapter_call(error="no JSON")], []),
)
situation(
    "argument text was cut off, nothing ran, and there is no plan",
    evidence([model_call(raw=CUT)], [adapter_call(error="no JSON")], []),
    None,
)
RAN_ON_A_PART = evidence([model_call(raw=CUT)], [adapter_call(args=PART)], [execution(args=PART)])
situation("argument text was cut off, the tool ran, and the plan is another", RAN_ON_A_PART)
situation("argument text was cut off, the tool ran, and there is no plan", RAN_ON_A_PART, None)
situation(
    "argument text is no JSON",
    evidence([model_call(raw="{'order': 1}")], [adapter_call(error="no JSON")], []),
)
situation(
    "argument text is no JSON, and the response ended for its length",
    evidence(
        [model_call(raw="{'order': 1}", finish_reason="length")],
        [adapter_call(error="no JSON")],
        [],
    ),
)

# Calls

situation("the model asked for a wrong value, and it ran", handed(OTHER, OTHER))
situation(
    "the model asked for a wrong value, and the adapter made it right by chance",
    handed(OTHER, ARGS),
)
situation(
    "the model never asked for a planned call",
    evidence(responses=(Response(ref="r1", text="Done."),)),
)
situation(
    "the model asked for a call that the plan does not know",
    clean_run(("refund", ARGS), ("look", {})),
)
situation("the model asked for another tool with the same arguments", clean_run(("refnd", ARGS)))
situation(
    "a wrong call was refused, and the model made it good",
    evidence(
        [model_call(args={"n": "x"}), model_call(call_id="c2", turn=2)],
        [adapter_call(error="n is no number"), adapter_call(call_id="c2")],
        [execution(call_id="c2")],
    ),
)
situation(
    "a wrong call never ran, and all else is as planned",
    evidence(
        [model_call(), model_call("look", {}, call_id="c2")],
        [adapter_call(), adapter_call("look", {}, call_id="c2")],
        [execution()],
    ),
)
situation(
    "a right call was refused by the adapter",
    evidence([model_call()], [adapter_call(error="unknown tool")], []),
)
situation(
    "a right call was refused at the tool, before it was entered",
    evidence([model_call()], [adapter_call()], [execution(error="no such argument", count=0)]),
)
situation(
    "the second call of a response was never handed on",
    evidence([model_call(), model_call("look", {}, call_id="c2")], [adapter_call()], [execution()]),
    case(due(), due("look", {})),
)
situation("a call was handed on and never ran", evidence([model_call()], [adapter_call()], []))
situation(
    "a call was handed on and never ran, and there is no plan",
    evidence([model_call()], [adapter_call()], []),
    None,
)
situation(
    "a tool ran that nobody had asked for",
    evidence([model_call()], [adapter_call()], [execution(), execution("look", {}, call_id=None)]),
)
situation(
    "the adapter made a call that nobody had asked for",
    evidence(
        [model_call()],
        [adapter_call(), adapter_call("look", {}, call_id=None)],
        [execution(), execution("look", {}, call_id=None)],
    ),
)
situation(
    "another tool was entered than the one that was handed on",
    evidence([model_call()], [adapter_call()], [execution("refund_all")]),
)
situation(
    "the adapter handed one call on to another tool",
    evidence([model_call()], [adapter_call("refund_all")], [execution("refund_all")]),
    no_plan(),
)

# Repeats

situation(
    "a tool ran twice for one call",
    evidence([model_call()], [adapter_call()], [execution(count=2)]),
)
for what, ran in (
    ("a tool ran once more in the dispatch of a call, on other arguments", execution(args=OTHER)),
    ("another tool ran in the dispatch of a call", execution("get_order")),
):
    beside = replace(ran, link="adapter/0")
    own = execution(link="adapter/0")
    situation(what, evidence([model_call()], [adapter_call()], [own, beside]))
situation(
    "the adapter handed one call on twice",
    evidence([model_call()], [adapter_call()] * 2, [execution()] * 2),
)
TWICE = ([model_call(), model_call(call_id="c2", turn=2)],)
ASKED_TWICE = evidence(
    *TWICE,
    [adapter_call(), adapter_call(call_id="c2")],
    [execution(), execution(call_id="c2")],
)
situation("the model asked for one call twice", ASKED_TWICE)
situation(
    "the model asked for one call twice, and the plan does too", ASKED_TWICE, case(due(), due())
)
situation(
    "the model repeated a call that was reported as failed although it had its effect",
    evidence(
        *TWICE,
        [adapter_call(), adapter_call(call_id="c2")],
        [execution(error="timeout", effect=True), execution(call_id="c2")],
    ),
)
situation(
    "a restart of the whole run without its history repeated a call",
    evidence(
        [model_call(), model_call(call_id="c2", turn=2, attempt=2)],
        [adapter_call(), adapter_call(call_id="c2", attempt=2)],
        [execution(), execution(call_id="c2", attempt=2)],
        conduct=Conduct(
            attempts=(
                RunAttempt(number=1, ended="crashed"),
                RunAttempt(number=2, history_has_first_result=False),
            )
        ),
    ),
)
situation(
    "two calls bear one idempotency key",
    clean_run(("refund", {"key": "k", "n": 1}), ("refund", {"key": "k", "n": 2})),
    no_plan(once_per={"refund": "/key"}),
)
