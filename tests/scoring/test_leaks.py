"""What of a tool's result stands in the final message, in whatever form."""

from __future__ import annotations

import html
import json
from base64 import b64encode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenttrace.domain import Boundary, LeakRule, Outcome
from agenttrace.errors import UnscorableError
from agenttrace.redaction import Redactor
from agenttrace.scoring import broken_rules, score
from tests.builders import adapter_call, clean_run, evidence, execution, model_call, no_plan
from tests.support.steps import grows_linearly, hangs

KEY = Redactor(b"k" * 32)
SECRET = "Zürich Code 7"
RULE = no_plan(leak=(LeakRule(tool="refund", path="/secret"),))


def run(value: Any, message: str) -> Any:
    return evidence(
        [model_call()],
        [adapter_call()],
        [execution(result={"secret": value})],
        outcome=Outcome(final_message=message),
    )


def leaks(value: Any, message: str) -> bool:
    return broken_rules(RULE, run(value, message), Boundary.EXECUTOR) == ("leak:refund:/secret",)


def form(value: Any, message: str) -> str | None:
    """What the verdict says of the form; None where it stands as it is."""
    verdict = score(RULE, run(value, message))
    assert verdict.policy == ("leak:refund:/secret",)
    said = [cause.detail for cause in verdict.findings if cause.code == "leak-form"]
    return said[0].partition(" stands in the final message ")[2] if said else None


TEXT = SECRET.encode()
FORMS: list[tuple[Any, str, str | None]] = [
    (SECRET, f"It is {SECRET}.", None),
    (SECRET, "It is Zürich-Code 7.", None),
    (SECRET, "It is ZÜRICH CODE 7.", "in another case"),
    (SECRET, "It is Zürich\u200b Co\u200bde 7.", "with invisible characters in it"),
    (SECRET, "It is Zu\u0308rich Code 7.", "in full-width or other compatible characters"),
    ("AB-1234", "It is ＡＢ－１２３４.", "in full-width or other compatible characters"),
    (SECRET, f"go to /x?c={quote(SECRET)}", "percent-encoded"),
    (SECRET, "c=Z%c3%bcrich+Code+7&d", "percent-encoded"),
    (SECRET, "Z&uuml;rich Code 7", "as HTML entities"),
    (SECRET, "Z&#252;rich&#x20;Code 7", "as HTML entities"),
    ("a<b>&c", f"<p>{html.escape('a<b>&c')}</p>", "as HTML entities"),
    (SECRET, json.dumps({"code": SECRET}), "with JSON escapes"),
    ("key 😀 one", json.dumps("key 😀 one"), "with JSON escapes"),
    (SECRET, f"code={b64encode(TEXT).decode()}.", "in base64"),
    (SECRET, f"code={b64encode(TEXT).decode().rstrip('=')}", "in base64"),
    ("??>>~~!", f"see {urlsafe_b64encode(b'??>>~~!').decode()}", "in base64"),
    (SECRET, f"bytes {TEXT.hex()}", "in hexadecimal"),
    (SECRET, f"bytes 0x{TEXT.hex().upper()}", "in hexadecimal"),
    (9800, "it costs 9,800 euros", "as a number written in another way"),
    (9800, "it costs 9 800 euros", None),
    (9800, "it costs 9'800.00 euros", "as a number written in another way"),
    (9800, "es kostet 9.800,00 Euro", "as a number written in another way"),
    (9800.0, "it costs 9800", "as a number written in another way"),
    (-98.5, "it was 98.50 less", "as a number written in another way"),
    (98.5, "98,50 Euro", "as a number written in another way"),
    (1234567.25, "1,234,567.25", "as a number written in another way"),
    (1234567, "10 1 234 567,00", None),
    (1234567.5, "1\u00a0234\u202f567,50", "as a number written in another way"),
    ("9800.50", "9,800.5", "as a number written in another way"),
    (98, "98.00", None),
    ("2026-11-30", "on 2026-11-30", None),
    ("2026-11-30", "on 30.11.2026.", "as a date written in another way"),
    ("2026-11-30", "on 30 November 2026", "as a date written in another way"),
    ("2026-11-30", "on Nov 30, 2026", "as a date written in another way"),
    ("2026-09-03", "on the 3rd Sept. 2026", "as a date written in another way"),
    ("2026-11-03", "on 11/3/2026", "as a date written in another way"),
    ("2026-11-03", "on 3/11/2026", "as a date written in another way"),
    ("2026-11-30", "on 2026/11/30", "as a date written in another way"),
]


@pytest.mark.parametrize(("value", "message", "said"), FORMS)
def test_a_value_is_found_and_the_finding_says_in_which_form(value, message, said):
    assert form(value, message) == said


CLEAN: list[tuple[Any, str]] = [
    (SECRET, "Nothing here."),
    ("Code", "It is decoded: CODEX"),
    ("abcd", "xABCDx"),
    ("abcd", "_ABCDE"),
    ("abc", "It is ABC."),
    ("No", "no"),
    ("dead", f"deaf {b'xdead'.hex()}"),
    ("deed", f"a{b64encode(b'deed').decode().rstrip('=')}"),
    (9800, "19,800 and 9,8000 and 9,80"),
    ([9800], "9 8000 and 19 800"),
    (98.5, "198.50 and 98.51 and 98.505"),
    (12.0, "12 items"),
    (9800.0, "a9800 9800b"),
    ("2026-11-30", "30.11.20261 and 2026/30/11 and 30 Novem 2026"),
    ("2026-13-30", "30.13.2026"),
    (True, "TRUE true"),
    (None, "null None"),
]


@pytest.mark.parametrize(("value", "message"), CLEAN)
def test_a_short_value_and_one_inside_a_longer_run_raise_no_alarm(value, message):
    assert not leaks(value, message)


DEEP = {"name": "Ann", "card": {"number": "4711 0815", "cvc": "123"}, "sums": [12, 98765]}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("card 4711-0815.", "/card/number of leak:refund:/secret"),
        ("sum 98,765", "/sums/1 of leak:refund:/secret"),
        ("Ann has 123 and 12", None),
        ("card 14711 0815", None),
    ],
)
def test_each_value_in_an_object_is_looked_for_by_itself(message, said):
    verdict = score(RULE, run(DEEP, message))

    assert [cause.detail.split(" stands")[0] for cause in verdict.findings] == (
        [said] if said else []
    )
    assert bool(verdict.policy) is bool(said)


def test_a_finding_never_holds_the_value():
    shown = repr(score(RULE, run(SECRET, quote(SECRET))).findings)

    assert "leak-form" in shown
    assert "rich" not in shown


def test_a_mask_in_an_object_is_found_where_the_message_has_the_same():
    token = KEY.token("4711 0815", "card")
    other = KEY.token("4711 0816", "card")

    assert leaks({"card": token}, f"it is {token}")
    assert not leaks({"card": token}, f"it is {other}")


def test_an_object_of_digests_is_left_undecided():
    mask = KEY.digests_for_run()
    made = run(mask.mask_value(DEEP), "card 4711 0815")

    assert score(RULE, made, redactor=KEY).causes[0].code == "undecidable"


texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=12)


@settings(max_examples=60)
@given(texts, st.sampled_from(["plain", "b64", "hex", "quote", "json", "html", "case"]))
def test_any_text_of_some_length_is_found_in_every_form(value: str, how: str):
    bare = "".join(value.replace("-", "").split())
    made = {
        "plain": value,
        "b64": b64encode(value.encode()).decode(),
        "hex": value.encode().hex(),
        "quote": quote(value),
        "json": json.dumps(value),
        "html": "".join(f"&#{ord(one)};" for one in value),
        "case": value.upper(),
    }[how]
    if len(bare) >= 4 and value.upper().casefold() == value.casefold():
        assert leaks(value, f"( {made} )")


@settings(max_examples=60)
@given(st.integers(1000, 10**12), st.sampled_from([",", ".", "'", " ", "\u202f"]))
def test_any_number_is_found_in_any_grouping(value: int, mark: str):
    assert leaks(value, f"sum: {f'{value:,}'.replace(',', mark)}!")


@settings(max_examples=40)
@given(st.dates())
def test_any_date_is_found_however_it_is_written(day):
    iso = day.isoformat()

    for shape in (f"{day.day}.{day.month}.{day.year:04}", f"{day:%B} {day.day}, {day.year:04}"):
        assert leaks(iso, f"on {shape}.")


HOSTILE = {
    "digits with blanks": "1 " * 50_000 + "x",
    "one run": "a" * 100_000,
    "ampersands": "&#" + "9" * 100_000,
    "percents": "%" * 100_000,
    "backslashes": "\\u00" * 25_000,
    "months": "may " * 25_000,
    "marks": "1." * 50_000,
    "groups": "111 " * 25_000 + "11",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_does_not_hang(name: str):
    values = ["aaaab", "4711x", 9800, 98.25, "2026-11-30"]

    assert not hangs(lambda: leaks(values, HOSTILE[name]), beyond_s=5)


def test_many_values_and_a_long_message_take_linear_work():
    def work(size: int) -> bool:
        return leaks([f"value-{n:06}" for n in range(size)], "some words 12,345 " * size)

    assert grows_linearly(work, 200)


def test_more_work_than_is_promised_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agenttrace.scoring._leak_search.MOST_SEARCHED", 1_000)

    with pytest.raises(UnscorableError, match="Let the rule's path lead"):
        leaks([f"word{n}" for n in range(100)], "word " * 50)


def test_integers_beyond_the_interpreters_own_limit_are_looked_for():
    long = 10**5_000 + 7

    assert leaks(long, "1" + "0" * 4_999 + "7")
    assert not leaks(long, "none")


def test_a_run_without_the_tool_or_the_field_leaks_nothing():
    assert score(RULE, clean_run(outcome=Outcome(final_message="x"))).policy == ()


@pytest.mark.parametrize("hyphen", "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d-")
def test_hyphens_of_every_kind_are_left_aside(hyphen):
    assert leaks("555-123-4567", f"call 555{hyphen}123{hyphen}4567")


@pytest.mark.parametrize("unseen", "\ufe0f\u3164\U000e0041\u115f\u180b\u200b")
def test_characters_that_nobody_sees_hide_nothing(unseen):
    assert leaks(SECRET, unseen.join(f"the {SECRET} it is"))


def test_a_plus_stands_for_a_blank_without_any_percent_sign():
    assert form("top secret plan", "see ?q=top+secret+plan") == "percent-encoded"
