"""Lineage where values are masked, or only digests of them were kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttrace.domain import (
    BOUNDARIES,
    Evidence,
    Execution,
    Integrity,
    JsonValue,
    Lineage,
    Message,
    Origin,
    Outcome,
    Rendering,
    Unseen,
    Verdict,
)
from agenttrace.redaction import Redactor, is_token
from agenttrace.report import terminal_verdict, verdict_to_json
from agenttrace.scoring import hide_expected, score
from tests.builders import adapter_call, case, due, evidence, execution, model_call

KEY = Redactor(b"k" * 32, fields=["password"])
OTHER = Redactor(b"q" * 32, fields=["password"])
SECRET, WRONG = "horse-battery-9", "staple-correct-7"


def run_of(value: str, *messages: Message, result: JsonValue = "nothing") -> Evidence:
    """A look-up, and a log-in with a password."""
    args = {"password": value, "user": "jo-77"}
    return evidence(
        [model_call("find", {"q": "x1"}, call_id="f1"), model_call("log_in", args, turn=2)],
        [adapter_call("find", {"q": "x1"}, call_id="f1"), adapter_call("log_in", args)],
        [
            execution("find", {"q": "x1"}, call_id="f1", result=result),
            execution("log_in", args),
        ],
        outcome=Outcome(messages=messages),
    )


def recorded(made: Evidence, mask: Any) -> Evidence:
    """The evidence as a recorder with this mask keeps it."""
    for asked in made.model:
        mask.remember(asked.arguments)

    def call(one: Any) -> Any:
        changed = {"arguments": mask.mask_arguments(one.arguments)}
        if one.raw is not None:
            changed["raw"] = mask.mask_raw(one.raw)
        if isinstance(one, Execution):
            changed["result"] = mask.mask_value(one.result)
        return replace(one, **changed)

    def message(one: Message) -> Message:
        kept = mask.mask_text(one.content) if isinstance(one.content, str) else one.content
        return replace(one, content=kept)

    return replace(
        made,
        **{b.value: tuple(map(call, made.at(b))) for b in BOUNDARIES},
        integrity=Integrity(masking=mask.masking()),
        outcome=replace(made.outcome, messages=tuple(map(message, made.outcome.messages))),
    )


def said(content: str, turn: int = 1) -> Message:
    return Message(role="user", content=content, turn=turn)


def lineage_of(verdict: Verdict) -> Lineage:
    assert verdict.lineage is not None
    return verdict.lineage


def where(origin: Origin | None) -> tuple[str, int | None, str] | None:
    return None if origin is None else (origin.place.value, origin.turn, origin.path)


PLAN = case(due("find", {"q": "x1"}), due("log_in", {"password": SECRET, "user": "jo-77"}))


def test_masked_values_are_found_as_their_tokens():
    seen = recorded(
        run_of(WRONG, said(f"It is {WRONG}."), result={"password": SECRET}), KEY.for_run()
    )

    lineage = lineage_of(score(PLAN, seen, redactor=KEY))

    assert is_token(lineage.value)
    assert is_token(lineage.expected_value)
    assert where(lineage.observed) == ("user", 1, "")
    assert where(lineage.expected) == ("tool_result", 1, "/password")


def test_a_value_may_stand_behind_another_mask():
    asked = said("x [masked:card:00000000:" + "0" * 32 + "]")

    lineage = lineage_of(score(PLAN, recorded(run_of(WRONG, asked), KEY.for_run()), redactor=KEY))

    assert (lineage.observed, lineage.unseen) == (None, (Unseen.MASKS,))
    assert (lineage.expected, lineage.expected_unseen) == (None, (Unseen.MASKS,))


@pytest.mark.parametrize("is_made", [True, False], ids=["wrong", "missing"])
def test_an_expected_secret_is_never_shown(is_made: bool):
    seen = run_of(WRONG, said(f"It is {WRONG}."))
    if not is_made:
        seen = replace(
            seen, model=seen.model[:1], adapter=seen.adapter[:1], executor=seen.executor[:1]
        )
    plain = score(PLAN, seen)
    assert lineage_of(plain).expected_value == SECRET

    for verdict in (score(PLAN, seen, redactor=KEY), hide_expected(plain, PLAN, seen, OTHER)):
        shown = f"{verdict_to_json(verdict)}{terminal_verdict(verdict, seen)}{verdict.lineage}"
        assert SECRET not in shown
        assert is_token(lineage_of(verdict).expected_value)


@pytest.fixture
def digested() -> Evidence:
    made = run_of(WRONG, said(f"It is {WRONG}."), result={"rows": [{"id": WRONG}, {"id": SECRET}]})
    return recorded(made, KEY.digests_for_run())


def test_digests_are_found_as_far_as_they_go(digested: Evidence):
    """The message holds the value too, and nobody can tell."""
    lineage = lineage_of(score(PLAN, digested, redactor=KEY))

    assert where(lineage.observed) == ("tool_result", 1, "/rows/0/id")
    assert lineage.unseen == (Unseen.DIGESTS,)
    assert where(lineage.expected) == ("tool_result", 1, "/rows/1/id")


def test_a_digest_that_is_found_nowhere_is_not_said_to_stand_nowhere():
    seen = recorded(run_of(WRONG, said("hello")), KEY.digests_for_run())

    lineage = lineage_of(score(PLAN, seen, redactor=KEY))

    assert (lineage.observed, lineage.expected) == (None, None)
    assert Unseen.DIGESTS in lineage.unseen
    assert Unseen.DIGESTS in lineage.expected_unseen


def test_a_digest_of_another_spelling_is_a_weak_match():
    made = run_of(WRONG, said("hello"), result={"id": WRONG.upper()})

    lineage = lineage_of(score(PLAN, recorded(made, KEY.digests_for_run()), redactor=KEY))

    assert where(lineage.observed) == ("tool_result", 1, "/id")
    assert lineage.observed is not None
    assert lineage.observed.rendering is Rendering.LOOSE_DIGEST


def test_a_digest_made_with_another_key_is_no_match():
    made = run_of(WRONG, said("hello"), result={"id": WRONG})
    seen = recorded(made, KEY.digests_for_run())
    other = recorded(made, OTHER.digests_for_run())

    mixed = replace(seen, executor=(replace(seen.executor[0], result=other.executor[0].result),))
    lineage = lineage_of(score(PLAN, mixed, redactor=KEY))

    assert lineage.observed is None


def test_a_digest_of_a_truth_value_is_too_common():
    made = evidence([model_call("set", {"on": True})], [adapter_call("set", {"on": False})], None)
    mask = KEY.digests_for_run()
    mask_all = replace(
        made,
        model=tuple(
            replace(c, arguments=mask.mask_arguments(c.arguments or {})) for c in made.model
        ),
        adapter=tuple(
            replace(c, arguments=mask.mask_arguments(c.arguments or {})) for c in made.adapter
        ),
        integrity=Integrity(masking=mask.masking()),
    )

    assert lineage_of(score(None, mask_all)).too_common
