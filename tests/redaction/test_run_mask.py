"""Masking of arguments, raw text and prose, and that they agree."""

from __future__ import annotations

import json
import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.records import canonical, parse_arguments
from agenttrace.redaction import DROPPED, Redactor, SecretPattern, contains_token, is_token
from agenttrace.redaction._memory import MAX_VALUES

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")

names = st.sampled_from(["password", "api_key", "auth", "note", "items", "pin", "a b", ""])
texts = st.text(max_size=12) | st.sampled_from(
    [
        "sk-abc123def456ghi789",
        "password=hunter22",
        '{"token": "abcd", "n": [1, {"pin": 1234}]}',
        "[1, 2",
        "Bearer abc123def456",
        "https://u:hunter22@host/",
        "hunter22",
        REDACTOR.token("x", "pin"),
    ]
)
arguments = st.dictionaries(
    names,
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=5,
)


@given(arguments, st.booleans())
def test_raw_text_is_masked_to_what_the_parsed_arguments_are_masked_to(given_arguments, is_ascii):
    raw = json.dumps(given_arguments, ensure_ascii=is_ascii, indent=1)
    mask = REDACTOR.for_run()

    masked = parse_arguments(mask.mask_raw(raw)).value

    assert canonical(masked) == canonical(mask.mask_arguments(given_arguments))
    assert canonical(masked) == canonical(REDACTOR.mask_expected(given_arguments))
    assert mask.errors == 0


@given(arguments)
def test_masking_what_is_masked_changes_nothing(given_arguments):
    once = REDACTOR.mask_expected(given_arguments)

    assert canonical(REDACTOR.mask_expected(once)) == canonical(once)
    assert canonical(REDACTOR.for_run().mask_arguments(once)) == canonical(once)


@given(arguments)
def test_raw_text_without_secrets_stays_byte_for_byte(given_arguments):
    raw = json.dumps(given_arguments, indent=2)
    mask = REDACTOR.for_run()

    if canonical(mask.mask_arguments(given_arguments)) == canonical(given_arguments):
        assert REDACTOR.for_run().mask_raw(raw) == raw


@given(st.text())
def test_any_text_is_masked_without_an_error(text):
    mask = REDACTOR.for_run()
    mask.mask_value("hunter22", "password")

    mask.mask_raw(text)
    mask.mask_text(text)

    assert mask.errors == 0


def test_secrets_become_tokens_and_the_rest_stays():
    masked = REDACTOR.mask_expected(
        {
            "order_id": "A-104",
            "amount_cents": 9800,
            "max_tokens": 5,
            "password": "hunter22",
            "pin": 1234,
            "auth": {"user": "ann", "ok": True, "none": None, "empty": ""},
        }
    )

    assert masked["order_id"] == "A-104"
    assert (masked["amount_cents"], masked["max_tokens"]) == (9800, 5)
    assert masked["password"] == REDACTOR.token("hunter22", "password")
    assert masked["pin"] == REDACTOR.token(1234, "pin")
    assert masked["auth"] == {
        "user": REDACTOR.token("ann", "auth"),
        "ok": True,
        "none": None,
        "empty": "",
    }


def test_the_input_is_not_changed_and_not_shared():
    inner = {"password": "hunter22", "list": [1]}
    given_arguments = {"a": inner, "b": [inner]}
    before = json.dumps(given_arguments)

    masked = REDACTOR.mask_expected(given_arguments)

    assert json.dumps(given_arguments) == before
    assert masked["a"] is not inner
    assert masked["a"]["list"] is not inner["list"]


def test_a_secret_is_masked_in_the_other_texts_of_its_arguments_wherever_it_comes():
    token = REDACTOR.token("hunter22", "password")

    first = REDACTOR.mask_expected({"note": "is hunter22", "password": "hunter22"})
    last = REDACTOR.mask_expected({"password": "hunter22", "note": "is hunter22"})

    assert first["note"] == last["note"] == f"is {token}"


def test_a_value_masked_once_is_masked_in_later_texts_of_the_run_and_of_no_other():
    mask = REDACTOR.for_run()
    mask.mask_arguments({"password": "hunter22", "card_number": 4111111111111111})

    text = mask.mask_text("login as ann/hunter22 with 4111111111111111 failed")

    assert text == (
        f"login as ann/{REDACTOR.token('hunter22', 'password')} with "
        f"{REDACTOR.token(4111111111111111, 'card')} failed"
    )
    assert REDACTOR.for_run().mask_text("ann/hunter22") == "ann/hunter22"


@pytest.mark.parametrize(
    ("value", "text"),
    [("abc", "abc"), ("12345", "12345"), ("true", "untrue"), ("123456", "91234567"), (42, "42")],
)
def test_values_too_common_to_be_secrets_are_not_looked_for_in_texts(value, text):
    mask = REDACTOR.for_run()
    mask.mask_value(value, "pin")

    assert mask.mask_text(f"it was {text} then") == f"it was {text} then"


def test_a_secret_is_found_in_the_spellings_of_json_python_and_urls():
    secret = 'p"ä\\ss wörd\n'
    mask = REDACTOR.for_run()
    mask.mask_value(secret, "password")

    for spelled in (
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        repr(secret),
        "x=p%22%C3%A4%5Css%20w%C3%B6rd%0A",
    ):
        assert contains_token(mask.mask_text(f"bad value {spelled} here")), spelled


def test_secrets_seen_in_a_later_call_can_be_noted_before_the_first_is_masked():
    mask = REDACTOR.for_run()
    mask.remember({"password": "hunter22"})

    assert "hunter22" not in str(mask.mask_arguments({"sql": "select 'hunter22'"}))


@pytest.mark.parametrize(
    "text",
    [
        "input_value={'password': 'hunter22', 'a': 1}",
        "input_value={'password': 'hunter22",
        'Expecting "," delimiter: {"client_secret": "hunter22", "b": 1}',
        '{\\"password\\": \\"hunter22\\"}',
        "password=hunter22",
        "PASSWORD = hunter22;",
        "api key: hunter22",
        "{'apiKey' => 'hunter22'}",
        "export DB_PASSWORD=hunter22 && run",
        "https://api/x?access_token=hunter22&y=1",
        "postgres://ann:hunter22@db/x",
        "Authorization: Basic hunter22==",
        'headers["x-api-key"] = "hunter22"',
    ],
)
def test_prose_loses_the_values_behind_secret_names(text):
    masked = REDACTOR.for_run().mask_text(text)

    assert "hunter22" not in masked
    assert contains_token(masked) == {REDACTOR.key_id}


@pytest.mark.parametrize(
    "text",
    [
        "The author: Bob Smith, max_tokens: 5000, tokens=1234567",
        "token: invalid",
        "T=$(cat tok) push",
        "password=$PASSWORD",
        "token={token}",
        "disk-usage-is-high-today-again and task-force-members-meet",
        "a - b, http://host/path, key: value",
        "the bearer instruments",
    ],
)
def test_prose_without_secrets_stays(text):
    assert REDACTOR.for_run().mask_text(text) == text


SHAPES = [
    "sk-proj-abcDEF0123456789abcDEF",
    "sk-ant-api03-abcDEF0123456789abcDEF-_x",
    "sk_live_abcDEF0123456789",
    "ghp_abcDEF0123456789abcDEF0123456789abcd",
    "github_pat_11ABCDEFG0123456789_abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefABCDEF",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "glpat-abcDEF0123456789abcd",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIEow\ncut off",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_well_known_shapes_are_masked_anywhere(secret: str):
    mask = REDACTOR.for_run()
    for text in (secret, f"use {secret}, please", json.dumps({"x": [secret]}), f"k={secret}"):
        assert secret not in mask.mask_text(text)
        assert "MIIEow" not in mask.mask_text(text)
    assert is_token(REDACTOR.mask_expected({"value": secret})["value"])
    assert next(iter(REDACTOR.mask_expected({secret: 1}))) != secret


def test_what_stands_around_a_shape_stays():
    text = REDACTOR.for_run().mask_text("curl -H 'Bearer abc123def456' https://u:pw1234@h/p?q=1")

    head, _, tail = text.partition(" https://u:")
    assert head.startswith("curl -H 'Bearer [masked:token:")
    assert tail.endswith("]@h/p?q=1")


def test_paths_mask_what_names_do_not_give_away():
    redactor = Redactor(b"k" * 32, paths=["/customer/note", "/rows/*/0", "/a~1b"])
    given_arguments = {
        "customer": {"note": "ill", "name": "Ann"},
        "rows": [["x1", "y1"], ["x2", "y2"]],
        "a/b": 7,
        "note": "plain",
        "text": json.dumps({"customer": {"note": "kept"}}),
    }
    mask = redactor.for_run()

    masked = mask.mask_arguments(given_arguments)

    assert is_token(masked["customer"]["note"])
    assert masked["customer"]["name"] == "Ann"
    assert [is_token(row[0]) for row in masked["rows"]] == [True, True]
    assert [row[1] for row in masked["rows"]] == ["y1", "y2"]
    assert is_token(masked["a/b"])
    assert masked["note"] == "plain"
    assert masked["text"] == given_arguments["text"]
    assert parse_arguments(mask.mask_raw(json.dumps(given_arguments))).value == masked


@pytest.mark.parametrize("path", ["customer/note", "", "/a~2"])
def test_a_malformed_path_is_refused(path: str):
    with pytest.raises(ValueError, match="p"):
        Redactor(b"k" * 32, paths=[path])


def test_a_pattern_of_ones_own_is_used():
    badge = SecretPattern(group="badge", pattern=re.compile(r"B-(?P<secret>\d{4})"))
    redactor = Redactor(b"k" * 32, patterns=[badge])

    masked = redactor.mask_expected({"who": "badge B-1234 of Ann"})

    assert masked["who"] == f"badge B-{redactor.token('1234', 'badge')} of Ann"


def test_a_mask_of_ones_own_comes_first_and_its_failure_drops_the_value_alone():
    def mine(text: str) -> str:
        if "boom" in text:
            raise RuntimeError(text)
        return text.replace("Ann", "N.")

    mask = Redactor(b"k" * 32, mask=mine).for_run()

    masked = mask.mask_arguments({"a": "Ann", "b": "boom", "c": 5, "password": "hunter22"})

    assert (masked["a"], masked["b"], masked["c"]) == ("N.", DROPPED, 5)
    assert is_token(masked["password"])
    assert mask.errors == 1
    assert mask.mask_text("boom") == DROPPED
    assert "boom" not in mask.mask_raw('{"b": "boom", "a": "Ann"}')


@pytest.mark.parametrize("answer", [None, 5, b"x"])
def test_a_mask_that_gives_no_text_drops_the_value(answer):
    mask = Redactor(b"k" * 32, mask=lambda _: answer).for_run()

    assert mask.mask_value("anything") == DROPPED
    assert mask.errors == 1


def test_a_pattern_that_raises_drops_the_text():
    class Raising(SecretPattern):
        def spans(self, text: str):
            raise RuntimeError(text)

    broken = Raising(group="x", pattern=re.compile("x"))
    mask = Redactor(b"k" * 32, patterns=[broken]).for_run()

    assert mask.mask_text("some text") == DROPPED
    assert mask.mask_value({"a": "some text", "n": 1}) == {"a": DROPPED, "n": 1}


def test_both_of_two_equal_keys_are_masked_in_raw_text():
    masked = REDACTOR.for_run().mask_raw('{"password": "first-one", "password": "second-one"}')

    assert "first-one" not in masked
    assert "second-one" not in masked


def test_a_secret_that_looks_like_syntax_leaves_the_raw_text_json():
    raw = '{"password": "\\", \\"", "a": "b", "c": "d", "sk-abc123def456ghi789": 1}'

    masked = REDACTOR.for_run().mask_raw(raw)

    assert parse_arguments(masked).value == REDACTOR.mask_expected(json.loads(raw))
    assert '"a": "b", "c": "d"' in masked
    assert "sk-abc" not in masked


def test_an_unterminated_secret_stays_unterminated():
    masked = REDACTOR.for_run().mask_raw('{"note": "a", "password": "hunt')

    assert masked.startswith('{"note": "a", "password": "[masked:password:')
    assert masked.endswith("]")
    assert parse_arguments(masked).state == "truncated"


def test_json_texts_inside_each_other_are_masked_to_the_limit_and_as_prose_beyond():
    text = "hunter22"
    value: object = {"password": text}
    for _ in range(12):
        value = {"body": json.dumps(value)}

    mask = REDACTOR.for_run()

    assert text not in json.dumps(mask.mask_value(value))
    assert text not in REDACTOR.for_run().mask_raw(json.dumps(value))


def test_deep_values_are_masked():
    value: object = {"password": "hunter22"}
    for _ in range(20_000):
        value = [value]

    masked = REDACTOR.for_run().mask_value(value)

    for _ in range(20_000):
        masked = masked[0]
    assert is_token(masked["password"])


def test_memory_is_bounded_and_what_is_forgotten_is_counted():
    mask = REDACTOR.for_run()
    for number in range(MAX_VALUES + 50):
        mask.mask_value(f"secret-{number:06d}", "password")

    text = mask.mask_text("secret-000000 and secret-009999 " * 100)

    assert mask.forgotten == 50
    assert "secret-000000" not in text
    assert "secret-009999" not in text


def test_a_text_made_to_be_slow_is_dropped():
    mask = REDACTOR.for_run()
    for number in range(2_000):
        mask.mask_value("a" * (8 + number % 200) + f"b{number}", "password")

    masked = mask.mask_text("a" * 200_000)

    assert masked[:100] == DROPPED
    assert mask.errors == 1


def test_threads_mask_alike():
    mask = REDACTOR.for_run()
    wrong: list[object] = []

    def work(number: int) -> None:
        for step in range(50):
            secret = f"secret-{number}-{step}"
            masked = mask.mask_arguments({"note": f"has {secret}", "token": secret})
            token = REDACTOR.token(secret, "token")
            if masked != {"note": f"has {token}", "token": token}:
                wrong.append(masked)
            if secret in mask.mask_text(f"later {secret} again"):
                wrong.append(secret)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []
