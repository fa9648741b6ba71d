"""Finish reasons of every dialect: whose a malformed call is depends on them."""

from __future__ import annotations

import pytest

from agenttrace.domain import Boundary, Owner, ToolCall, is_broken_off, is_out_of_room
from agenttrace.scoring import score
from tests.builders import evidence

OUT_OF_ROOM = ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "tool_calls,length"]
ENDED = [None, "", "stop", "tool_calls", "tool_use", "STOP", "end_turn"]


@pytest.mark.parametrize("reason", [*OUT_OF_ROOM, "model_context_window_exceeded"])
def test_malformed_text_is_the_agents_where_the_model_ran_out_of_room(reason):
    assert is_out_of_room(reason)
    assert owner_of_malformed(reason) is Owner.AGENT


@pytest.mark.parametrize("reason", [*ENDED, "content_filter"])
def test_malformed_text_is_the_providers_otherwise(reason):
    assert not is_out_of_room(reason)
    assert owner_of_malformed(reason) is Owner.PROVIDER


@pytest.mark.parametrize("reason", ENDED)
def test_an_ordinary_end_breaks_nothing_off(reason):
    assert not is_broken_off(reason)


@pytest.mark.parametrize("reason", ["length", "SAFETY", "cancelled", "refusal", "incomplete"])
def test_a_limit_and_a_refusal_both_break_a_response_off(reason):
    assert is_broken_off(reason)


def owner_of_malformed(reason):
    call = ToolCall(
        boundary=Boundary.MODEL,
        ref="model/0",
        name="pay",
        call_id="c1",
        turn=1,
        raw="not an object",
        finish_reason=reason,
    )
    return score(None, evidence(model=(call,))).owner
