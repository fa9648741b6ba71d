"""Secrets behind names in prose: options of commands, elements, numbered names."""

from __future__ import annotations

import json

import pytest

from agenttrace.redaction import Redactor, contains_token

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")

SECRET = [
    "mysql --password hunter22 -u root",
    "mysql --password   'hunter22 and more' -u root",
    'x --api-key "hunter22"',
    "x --user-password\thunter22",
    "x --password=hunter22",
    "x --token hunter22 --verbose",
    "<password>hunter22</password>",
    "<user><ns:password kind='x'> hunter22 </ns:password></user>",
    "<a><ApiKey>hunter22</ApiKey>",
    "password1=hunter22",
    'Password_2: "hunter22"',
    "user[password]=hunter22",
    "user[password1]=hunter22&x=1",
    "password_confirmation=hunter22",
    "tokenValue: hunter22",
    "stripe_key=hunter22",
    "'pass': 'hunter22'",
    "pass=hunter22",
    "pw: hunter22",
]
PLAIN = [
    "PASS: test_refund_amount",
    "pass: everything fine",
    "use --password instead",
    "the --password option is gone",
    "x --token --verbose",
    "x --max-tokens 50000",
    "a <token> is given, and then </b>",
    "<b>hunter22</b>",
    "<password></password>",
    "<p>password</p>",
    "<token>none</token>",
    "compass: north, monkey: banana, sort_key=abcdef, v1: hello",
    "-----BEGIN------ --",
]


@pytest.mark.parametrize("text", SECRET)
def test_a_value_behind_a_secret_name_is_masked_in_prose_and_in_every_text_around_it(text: str):
    masked = REDACTOR.for_run().mask_text(text)
    given = {"note": text, "inner": json.dumps({"note": text})}

    assert "hunter22" not in masked
    assert contains_token(masked) == {REDACTOR.key_id}
    assert REDACTOR.for_run().mask_text(masked) == masked
    parsed = REDACTOR.mask_expected(given)
    assert parsed == json.loads(REDACTOR.for_run().mask_raw(json.dumps(given)))
    assert parsed["note"] == json.loads(str(parsed["inner"]))["note"] == masked


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_speaks_of_a_secret_stays(text: str):
    assert REDACTOR.for_run().mask_text(text) == text
