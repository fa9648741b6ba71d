"""What happens around calls: results, people, guards, other agents, the end of a run."""

from __future__ import annotations

from agenttrace.domain import (
    Approval,
    Conduct,
    Contract,
    Decision,
    Envelope,
    Evidence,
    ForbiddenCall,
    Guardrail,
    HumanEdit,
    LeakRule,
    Outcome,
    Ownership,
    Phase,
    ResultShown,
    RuntimeTypes,
    Tools,
)
from tests.builders import (
    ARGS,
    adapter_call,
    case,
    clean_run,
    due,
    evidence,
    execution,
    model_call,
    no_plan,
    rule,
)
from tests.support.situations import MODEL, OTHER, SITUATIONS, entered, situation

__all__ = ["SITUATIONS"]

# Results


def shown(result: object, told: object, **fields: object) -> Evidence:
    """A run's result, and what the model was told of it."""
    return evidence(
        [model_call()],
        [adapter_call()],
        [execution(result=result, **fields)],  # type: ignore[arg-type]
        conduct=Conduct(results_shown=(ResultShown(shown=told, call_id="c1"),)),  # type: ignore[arg-type]
    )


situation("the model was shown what the tool returned, as text", shown({"ok": True}, '{"ok":true}'))
situation("the model was shown another result", shown({"paid": 9800}, {"paid": 98}))
situation(
    "the model was shown the results of two calls the wrong way round",
    evidence(
        [model_call("look", {"n": 1}), model_call("look", {"n": 2}, call_id="c2")],
        [adapter_call("look", {"n": 1}), adapter_call("look", {"n": 2}, call_id="c2")],
        [
            execution("look", {"n": 1}, result="one"),
            execution("look", {"n": 2}, result="two", call_id="c2"),
        ],
        conduct=Conduct(
            results_shown=(
                ResultShown(shown="two", call_id="c1"),
                ResultShown(shown="one", call_id="c2"),
            )
        ),
    ),
    no_plan(),
)
situation(
    "the model was shown a success where the tool had failed",
    shown(None, "done", error="ValueError: no such order"),
)
situation(
    "the model was told that the tool had failed",
    shown(None, "error: no such order", error="ValueError: no such order"),
)
situation(
    "a tool changed its own arguments while it ran",
    evidence([model_call()], [adapter_call()], [execution(digest="a", exit_digest="b")]),
)

# People, guards, caches


def clean(**conduct: object) -> Evidence:
    """The clean refund, and what was decided around it."""
    return evidence(
        [model_call()],
        [adapter_call()],
        [execution()],
        conduct=Conduct(**conduct),  # type: ignore[arg-type]
    )


def stopped(**conduct: object) -> Evidence:
    """The refund was handed on and did not run, and what was decided around it."""
    return evidence(
        [model_call()],
        [adapter_call()],
        [],
        conduct=Conduct(**conduct),  # type: ignore[arg-type]
    )


APPROVED = Approval(call="c1", decision=Decision.APPROVE)
REJECTED = Approval(call="c1", decision=Decision.REJECT)
EDIT = HumanEdit(call_id="c1", path="/cents", before=8900, after=9800)
situation("a call was approved, and ran", clean(approvals=(APPROVED,)))
situation(
    "a call ran on the approval of another",
    clean(approvals=(Approval(call="c9", decision=Decision.APPROVE),)),
)
situation("a call was rejected, and ran", clean(approvals=(REJECTED,)))
situation("a call was rejected, and did not run", stopped(approvals=(REJECTED,)), no_plan())
situation(
    "a person set an amount right before it ran",
    entered(OTHER, ARGS, conduct=Conduct(human_edits=(EDIT,))),
)
situation(
    "a person's edit left the plan that the model kept",
    entered(
        ARGS,
        OTHER,
        conduct=Conduct(
            human_edits=(HumanEdit(call_id="c1", path="/cents", before=9800, after=8900),)
        ),
    ),
)
situation(
    "a guardrail stopped a call",
    stopped(guardrail=Guardrail(blocked=True, call="c1")),
    no_plan(),
)
situation(
    "a guardrail tripped, and the tool began all the same",
    clean(guardrail=Guardrail(blocked=False, call="c1", tripped_at_ms=10, tool_started_at_ms=20)),
)
situation(
    "a call was answered from a cache, and the plan wants it made", stopped(cache_hits=("c1",))
)
situation(
    "a reused response was really executed",
    clean_run(("refund", OTHER), ownership=Ownership(response_first_seen_with="req-0")),
)
situation(
    "a tool of the client's side has no run",
    evidence([model_call()], [adapter_call()], []),
    case(due(), compare=MODEL, contract=Contract(client_side_tools=frozenset({"refund"}))),
)

# Structure

situation(
    "a tool called another inside itself",
    evidence(
        [model_call()],
        [adapter_call()],
        [execution(), execution("look", {}, call_id=None, parent="executor/0")],
    ),
)
situation(
    "another agent than the plan is written for made a call",
    evidence(
        [model_call(agent="main"), model_call("look", {}, call_id="c2", agent="helper")],
        [adapter_call(agent="main"), adapter_call("look", {}, call_id="c2", agent="helper")],
        [execution(agent="main"), execution("look", {}, call_id="c2", agent="helper")],
    ),
    case(due(), agents=frozenset({"main"})),
)
situation(
    "another agent than the plan is written for made a forbidden call",
    evidence(
        [model_call(agent="main"), model_call("look", {}, call_id="c2", agent="helper")],
        [adapter_call(agent="main"), adapter_call("look", {}, call_id="c2", agent="helper")],
        [execution(agent="main"), execution("look", {}, call_id="c2", agent="helper")],
    ),
    case(due(), agents=frozenset({"main"}), forbidden=(ForbiddenCall(name="look"),)),
)
situation(
    "the model called through an envelope that is declared",
    evidence(
        [model_call("use", {"tool": "refund", "input": ARGS})], [adapter_call()], [execution()]
    ),
    case(
        due(),
        contract=Contract(envelope=Envelope(tool="use", name="tool", arguments="input")),
    ),
)
situation(
    "two calls came in the wrong order",
    clean_run(("refund", ARGS), ("look", {})),
    case(due(), due("look", {}), ordered=("look", "refund")),
)
situation(
    "a tool's set-up ran before the agent's first call",
    evidence(
        [model_call()],
        [adapter_call()],
        [execution("seed", {}, call_id=None, phase=Phase.SETUP), execution()],
    ),
)
situation(
    "the function received another type than its signature declares",
    clean_run(
        tools=Tools(
            runtime_types=RuntimeTypes(
                call_id="c0", declared={"/cents": "Decimal"}, received={"/cents": "float"}
            )
        )
    ),
)

# The end

situation(
    "every call is right and the end state is not",
    clean_run(outcome=Outcome(final_state={"paid": 0})),
    case(due(), outcome={"/paid": rule("equals", 9800)}),
)
situation(
    "the last message tells what a tool's result must keep to itself",
    evidence(
        [model_call()],
        [adapter_call()],
        [execution(result={"code": "488102"})],
        outcome=Outcome(final_message="Your code is 488-102."),
    ),
    case(due(), leak=(LeakRule(tool="refund", path="/code"),)),
)
situation(
    "the end state is right, and only reads differ from the plan",
    clean_run(
        ("refund", ARGS),
        ("look", {}),
        outcome=Outcome(final_state={"paid": 9800}, state_matches_intent=True),
    ),
    case(due(), contract=Contract(read_only=frozenset({"look"}))),
)
