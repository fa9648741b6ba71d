"""Masking is linear, on hostile text too; bounds are wide enough for a busy machine."""

from __future__ import annotations

import json
import time

import pytest

from agenttrace.redaction import Redactor

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")
MEGABYTE = 1_000_000

HOSTILE = {
    "prefixes": "sk-",
    "jwt starts": "eyJ",
    "jwt parts": "eyJabcdefgh.",
    "urls": "://a:",
    "assignments": 'password="abcd ',
    "escapes": 'token=\\"x',
    "pem": "-----BEGIN PRIVATE KEY-----",
    "bearer": "bearer a",
    "quotes": '"',
    "brackets": '["',
    "masks": "[masked:",
    "open objects": '{"password":',
    "colons": ":",
}


def seconds(text: str) -> float:
    started = time.process_time()
    mask = REDACTOR.for_run()
    mask.mask_text(text)
    mask.mask_raw(text)
    return time.process_time() - started


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_time_in_proportion(unit: str):
    small = unit * (MEGABYTE // 10 // len(unit))

    tenth = min(seconds(small) for _ in range(2))
    whole = seconds(unit * (MEGABYTE // len(unit)))

    assert whole < max(40 * tenth, 0.5)
    assert whole < 20


def test_ordinary_text_of_a_megabyte_costs_milliseconds():
    prose = "The order was sent to the customer on Monday, and nobody complained. " * 15_000

    assert min(seconds(prose) for _ in range(3)) < 0.2


def test_ordinary_json_of_a_megabyte_costs_less_than_a_second():
    rows = json.dumps([{"id": n, "name": f"n{n}", "tags": ["a"]} for n in range(17_000)])

    assert min(seconds(rows) for _ in range(2)) < 3
