"""A call with another case's values: whose fault it is, told by what the request says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttrace.domain import (
    Case,
    Evidence,
    ForbiddenCall,
    JsonObject,
    JsonValue,
    Message,
    Outcome,
    RequiredCall,
    Verdict,
)
from agenttrace.redaction import Redactor
from agenttrace.scoring import CaseValues, score
from tests.builders import clean_run, said

AGENT = ("fail", "model", "agent")
JOIN = ("inconclusive", "join", "evaluation-platform")


def case_of(order: str, case_id: str | None = None, **more: JsonValue) -> Case:
    call = RequiredCall(name="get_order", arguments={"order": order, **more})
    return Case(case_id=case_id or f"case-{order}", required=(call,))


ONE, OTHER = case_of("A-104"), case_of("B-209")
CASES = CaseValues([ONE, OTHER])


def message(content: JsonValue, role: str = "user", turn: int = 1, **more: Any) -> Message:
    return Message(role=role, content=content, turn=turn, **more)


def run_of(order: str, *messages: Message, **more: JsonValue) -> Evidence:
    return clean_run(("get_order", {"order": order, **more}), outcome=Outcome(messages=messages))


def judged(
    order: str, *messages: Message, case: Case = ONE, others: CaseValues = CASES, **more: Any
) -> Verdict:
    return score(case, run_of(order, *messages), others=others, **more)


def codes(verdict: Verdict) -> list[str]:
    return [one.code for one in (*verdict.causes, *verdict.findings)]


def test_where_the_request_names_this_case_the_agent_carried_the_others_values():
    verdict = judged("B-209", message("Where is order A-104?"))

    assert said(verdict) == AGENT
    (finding,) = verdict.findings
    assert finding.code == "values-of-other-case"
    assert "case-B-209" in finding.detail
    assert "names this case" in finding.detail


def test_where_the_request_names_the_other_case_the_join_is_broken():
    verdict = judged("B-209", message("Where is order B-209?"))

    assert said(verdict) == JOIN
    (cause,) = verdict.causes
    assert cause.code == "request-of-other-case"
    assert "case-B-209" in cause.detail
    assert (verdict.divergences, verdict.lineage) == ((), None)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [message("Where is it?")],
        [message("Is it A-104 or B-209?")],
        [message("Where is A-104?"), message("I mean B-209", turn=2)],
        [message("Where is B-209?"), message(None, length=12)],
        [message("Orders look like B-209.", role="system"), message("Where is my order?")],
        [message("You handle A-104.", role="system"), message("Where is B-209?")],
        [message("Where is B-209-7?")],
        [message("Where is a-104, not B-209?")],
    ],
    ids=[
        "no text",
        "neither",
        "both",
        "both in turn",
        "text kept out",
        "an example in the prompt",
        "this one in the prompt",
        "another token",
        "this one in another rendering",
    ],
)
def test_anything_less_clear_decides_nothing(messages: list[Message]):
    verdict = judged("B-209", *messages)

    assert said(verdict) == AGENT
    assert codes(verdict) == ["values-of-other-case"]
    assert verdict.divergences == score(ONE, run_of("B-209", *messages)).divergences


def test_a_value_of_no_other_case_is_the_agents_own():
    verdict = judged("C-300", message("Where is C-300?"))

    assert (said(verdict), codes(verdict)) == (AGENT, [])


def test_a_value_that_several_cases_have_tells_nothing():
    others = CaseValues([ONE, OTHER, case_of("B-209", "case-again")])

    verdict = judged("B-209", message("Where is B-209?"), others=others)

    assert (said(verdict), codes(verdict)) == (AGENT, [])


@pytest.mark.parametrize("value", ["B", "b7", 7, 42, True, None, ""])
def test_a_value_that_stands_anywhere_tells_nothing(value: JsonValue):
    one, other = case_of("A-104", n=900), case_of("A-104", "case-2", n=value)
    run = run_of("A-104", message(f"A-104 and {value}"), n=value)

    verdict = score(one, run, others=CaseValues([one, other]))

    assert codes(verdict) == []


def test_a_run_that_also_worked_on_this_case_is_its_own():
    plan = Case(
        case_id="case-A-104",
        required=tuple(
            RequiredCall(name=name, arguments={"order": "A-104"}) for name in ("get", "close")
        ),
    )
    run = clean_run(
        ("get", {"order": "A-104"}),
        ("close", {"order": "B-209"}),
        outcome=Outcome(messages=(message("Close B-209."),)),
    )

    verdict = score(plan, run, others=CaseValues([plan, OTHER]))

    assert said(verdict) == AGENT
    assert "met values of this one" in verdict.findings[0].detail


def test_a_run_that_carries_values_of_two_other_cases_decides_nothing():
    third = Case(
        case_id="case-3",
        required=(RequiredCall(name="get_order", arguments={"order": "X-1", "shop": "north-77"}),),
    )
    run = run_of("B-209", message("B-209 of north-77"), shop="north-77")

    verdict = score(ONE, run, others=CaseValues([ONE, OTHER, third]))

    assert said(verdict) == AGENT
    assert codes(verdict) == ["values-of-other-case"]
    assert "'case-B-209', 'case-3'" in verdict.findings[0].detail


def test_forbidden_calls_state_values_of_their_case():
    wary = replace(
        OTHER,
        required=(),
        forbidden=(ForbiddenCall(name="get_order", arguments={"order": "B-209"}),),
    )

    assert said(judged("B-209", message("B-209?"), others=CaseValues([ONE, wary]))) == JOIN


@pytest.mark.parametrize("order", ["A-104", "B-209"])
def test_a_row_that_passes_never_looks_at_the_data_set(order: str):
    others = CaseValues([ONE, OTHER])
    own = case_of(order)
    verdict = score(own, run_of(order, message("B-209")), others=others)

    assert said(verdict)[0] == "pass"
    assert not {"calls", "owners"} & vars(others).keys()


def test_a_fault_of_the_adapter_stays_the_adapters():
    run = run_of("A-104", message("Where is B-209?"))
    wrong: JsonObject = {"order": "B-209"}
    run = replace(
        run,
        adapter=tuple(replace(one, arguments=wrong) for one in run.adapter),
        executor=tuple(replace(one, arguments=wrong) for one in run.executor),
    )

    verdict = score(ONE, run, others=CASES)

    assert said(verdict) == ("fail", "adapter", "adapter")


def test_evidence_that_is_not_whole_is_judged_as_before():
    run = run_of("B-209", message("Where is B-209?"))
    run = replace(run, completeness=replace(run.completeness, settled=False))

    assert score(ONE, run, others=CASES) == score(ONE, run)


KEY = Redactor(b"k" * 32, fields=["order"])


def masked(run: Evidence, *, digests: bool = False) -> Evidence:
    """The run as a recorder keeps it that takes orders for secrets, or keeps digests alone."""
    mask: Any = KEY.digests_for_run() if digests else KEY.for_run()

    def call(one: Any) -> Any:
        raw = {} if one.raw is None else {"raw": mask.mask_raw(one.raw)}
        return replace(one, arguments=mask.mask_arguments(one.arguments), **raw)

    def kept(one: Message) -> Message:
        return replace(one, content=mask.mask_text(one.content))

    made = {at: tuple(map(call, getattr(run, at))) for at in ("model", "adapter", "executor")}
    messages = tuple(map(kept, run.outcome.messages))
    return replace(
        run,
        **made,
        outcome=replace(run.outcome, messages=messages),
        integrity=replace(run.integrity, masking=mask.masking()),
    )


@pytest.mark.parametrize(
    ("text", "right"), [("Where is A-104?", AGENT), ("Where is B-209?", JOIN), ("Hm?", AGENT)]
)
def test_masked_values_are_compared_as_their_masks(text: str, right: tuple[str, str, str]):
    run = masked(run_of("B-209", message(text)))

    verdict = score(ONE, run, others=CASES, redactor=KEY)

    assert said(verdict) == right
    assert len(codes(verdict)) == 1
    assert "B-209" not in str(verdict.causes + verdict.findings).replace("case-B-209", "")


def test_a_mask_in_the_text_may_hide_this_case_where_the_key_is_not_here():
    case = replace(ONE, required=(RequiredCall(name="get_order", arguments={"id": "A-104"}),))
    other = replace(OTHER, required=(RequiredCall(name="get_order", arguments={"id": "B-209"}),))
    token = KEY.token("A-104", "order")
    run = clean_run(
        ("get_order", {"id": "B-209"}),
        outcome=Outcome(messages=(message(f"B-209, not {token}"),)),
    )

    assert said(score(case, run, others=CaseValues([case, other]))) == AGENT


def test_digests_are_never_enough_for_a_verdict():
    run = masked(run_of("B-209", message("Where is B-209?")), digests=True)

    verdict = score(ONE, run, others=CASES, redactor=KEY)

    assert said(verdict) == AGENT
    assert codes(verdict) == ["values-of-other-case"]
    assert "not on record" in verdict.findings[0].detail


@pytest.mark.parametrize(
    ("own", "other", "text"),
    [
        (250, 500, "I have 500, move half of it."),
        (297.75, 198.5, "It was 198.5, and half as much again."),
        ("2024-05-12", "2024-05-11", "Book the day after 2024-05-11."),
        ("2024-05-12T10:00:00Z", "2024-05-11T10:00:00Z", "A day after 2024-05-11T10:00:00Z."),
    ],
)
def test_one_amount_or_date_that_the_right_one_is_reckoned_from_decides_nothing(
    own: JsonValue, other: JsonValue, text: str
):
    case, there = [
        Case(case_id=name, required=(RequiredCall(name="use", arguments={"v": value}),))
        for name, value in (("one", own), ("other", other))
    ]
    run = clean_run(("use", {"v": other}), outcome=Outcome(messages=(message(text),)))

    verdict = score(case, run, others=CaseValues([case, there]))

    assert said(verdict) == AGENT
    assert "reckoned" in verdict.findings[0].detail


@pytest.mark.parametrize("value", [48213, "48213", "Berlin"])
def test_one_id_or_name_says_which_case_it_is(value: JsonValue):
    one, other = (
        case_of("A-104"),
        Case(
            case_id="other", required=(RequiredCall(name="get_order", arguments={"order": value}),)
        ),
    )
    run = clean_run(
        ("get_order", {"order": value}), outcome=Outcome(messages=(message(f"See {value}."),))
    )

    assert said(score(one, run, others=CaseValues([one, other]))) == JOIN


def test_two_amounts_that_the_request_names_say_which_case_it_is():
    one, other = (
        case_of("A-104", cents=900, points=300),
        case_of("A-104", "other", cents=500, points=700),
    )
    run = run_of("A-104", message("500 cents and 700 points"), cents=500, points=700)

    assert said(score(one, run, others=CaseValues([one, other]))) == JOIN


def test_a_run_whose_tools_answered_with_this_cases_values_is_its_own():
    listed = message('["B-209", "A-104"]', role="tool", turn=2, call_id="c0")
    run = clean_run(
        ("list_orders", {}),
        ("get_order", {"order": "B-209"}),
        outcome=Outcome(messages=(message("Not B-209: the other one."), listed)),
    )

    verdict = score(ONE, run, others=CASES)

    assert said(verdict) == AGENT
    assert "met values of this one" in verdict.findings[0].detail
