"""What a case says of arguments that its tools do not have is a warning, with its place."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.contracts import parse_case
from agenttrace.contracts._doubts import doubts

SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "amount": {"type": "number"},
        "currency": {"type": "string", "default": "USD"},
    },
    "required": ["order", "amount", "currency"],
}
RIGHT: dict[str, Any] = {"name": "refund", "args": {"order": "A", "amount": 1}}


def warnings(**parts: Any) -> list[tuple[Any, str]]:
    declared = {"schemas": {"refund": SCHEMA}, **parts.pop("contract", {})}
    case = parse_case({"id": "c", "contract": declared, **parts}, "here")
    texts = [(one.loc, str(one)) for one in doubts(case)]
    return [one for one in texts if "which args do not have" not in one[1]]  # test_place_doubts


STRAY = "which is none of the parameters of 'refund'"


@pytest.mark.parametrize(
    ("parts", "loc"),
    [
        (
            {"required": [{**RIGHT, "args": {**RIGHT["args"], "x": 1}}]},
            ("required", 0, "args", "x"),
        ),
        (
            {"required": [{**RIGHT, "rules": {"/x/y": {"equals": 1}}}]},
            ("required", 0, "rules", "/x/y"),
        ),
        ({"forbidden": [{"name": "refund", "args": {"x": 1}}]}, ("forbidden", 0, "args", "x")),
        ({"once_per": {"refund": "/x"}}, ("once_per", "refund")),
        ({"ignore_args": {"refund": ["x"]}}, ("ignore_args", "refund")),
        (
            {"contract": {"coerce": {"refund": {"x": "string"}}}},
            ("contract", "coerce", "refund", "x"),
        ),
        ({"contract": {"fold_case": {"refund": ["x"]}}}, ("contract", "fold_case", "refund")),
        (
            {
                "sequence": [
                    {
                        "id": "s",
                        "before": {"name": "look"},
                        "after": {"name": "refund", "where": {"/x": {"equals": 1}}},
                    }
                ]
            },
            ("sequence", 0, "after", "where", "/x"),
        ),
        (
            {
                "states": [
                    {
                        "id": "s",
                        "start": "a",
                        "steps": [
                            {
                                "from": "a",
                                "on": {"name": "refund", "where": {"/x": {"equals": 1}}},
                                "to": "b",
                            }
                        ],
                    }
                ]
            },
            ("states", 0, "steps", 0, "on", "where", "/x"),
        ),
    ],
)
def test_an_argument_that_the_schema_lacks_is_named_wherever_it_stands(parts, loc):
    ((at, said),) = warnings(**parts)

    assert at == loc
    assert STRAY in said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"order": "A"}, "leaves out 'amount'"),
        ({"order": "A", "amount": "1"}, "does not fit the schema"),
        ({"order": 1, "amount": 1}, "does not fit the schema"),
    ],
)
def test_a_required_call_that_its_tool_does_not_take_is_named(args, said):
    ((_, found),) = warnings(required=[{"name": "refund", "args": args}])

    assert said in found


@pytest.mark.parametrize(
    "parts",
    [
        {"required": [RIGHT]},
        {
            "required": [
                {**RIGHT, "args": {"order": "A"}, "rules": {"/amount": {"range": {"min": 1}}}}
            ]
        },
        {
            "required": [{"name": "refund", "args": {"order": "A"}}],
            "ignore_args": {"refund": ["amount"]},
        },
        {
            "required": [{"name": "refund", "args": {"order": "A", "amount": "1"}}],
            "compare": "model",
        },
        {
            "required": [{"name": "refund", "args": {"order": "A", "sum": 1}}],
            "contract": {"rename": {"refund": {"amount": "sum"}}},
        },
        {"required": [{"name": "other", "args": {"anything": 1}}]},
    ],
)
def test_what_a_tool_takes_raises_no_doubt(parts):
    assert warnings(**parts) == []


def test_a_tool_without_parameters_takes_no_argument():
    case = parse_case(
        {
            "id": "c",
            "required": [{"name": "ping", "args": {"n": 1}}],
            "contract": {
                "schemas": {
                    "ping": {"type": "object", "properties": {}, "additionalProperties": False}
                }
            },
        },
        "here",
    )

    (found,) = doubts(case)
    assert "none of the parameters of 'ping'" in str(found)
