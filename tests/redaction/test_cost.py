"""Masking is linear, on hostile text too."""

from __future__ import annotations

import json

import pytest

from agenttrace.redaction import Redactor
from tests.support.steps import grows_linearly, hangs, steps

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")

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
    "options": "--password a",
    "option names": "--a",
    "elements": "<password>a",
    "tags": "<password a",
}


def mask(text: str) -> None:
    run = REDACTOR.for_run()
    run.mask_text(text)
    run.mask_raw(text)


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_work_in_proportion(unit: str):
    def work(length: int) -> None:
        mask(unit * (length // len(unit)))

    assert grows_linearly(work, 4_000)
    assert not hangs(lambda: work(300_000), beyond_s=10)


def test_ordinary_text_of_a_megabyte_is_not_walked_in_python():
    prose = "The order was sent to the customer on Monday, and nobody complained. " * 15_000

    assert steps(lambda: mask(prose)) < 1_000


def test_ordinary_json_takes_some_steps_a_value_and_none_a_character():
    rows = [{"id": n, "name": "n" * 1_000, "tags": ["a"]} for n in range(200)]

    assert steps(lambda: mask(json.dumps(rows))) < 150 * 5 * len(rows)
