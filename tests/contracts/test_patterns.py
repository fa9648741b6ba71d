from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.contracts import PatternError, _patterns, check_linear, compile_pattern
from agenttrace.contracts._pattern_search import compile_search
from tests.support.steps import hangs

SAFE = [
    "",
    "K-[0-9]{4}",
    r"^\d{4}-\d\d-\d\d$",
    r"[A-Z]{2,3}-\d+",
    r"-?\d+(?:\.\d+)?",
    "[^,]*,[^,]*",
    "(?:,[0-9]{3})*x",
    "(refund|cancel)-[a-z]+",
    r"https?://[^/]+/.*",
    ".*",
    "a.*b",
    r"a\$",
    "[]a-]+",
    "(?:yes|no)?",
    "a{2}b{,3}c{1,}",
]
UNSAFE = [
    ("(a+)+", "repeats a group"),
    ("(a|b)*", "repeats a group"),
    ("(a?){20}", "repeats a group"),
    ("a*a*b", "unbounded repetition"),
    (".*.*x", "unbounded repetition"),
    (".*x.*", "unbounded repetition"),
    (r"(a)\1", r"the escape \1"),
    (r"\bword", r"the escape \b"),
    ("(?=a)a", "extension"),
    ("(?P<n>a)", "extension"),
    ("(?i)a", "extension"),
    ("a*+b", "possessive"),
    ("x^y", "anchor"),
    ("(a|aa)" * 10, "ways"),
    ("a{0,40}a{0,40}a{0,40}", "ways"),
    ("a{20000}", "times"),
]


@pytest.mark.parametrize("pattern", SAFE)
def test_a_pattern_of_the_subset_runs_on_pythons_own_engine(pattern: str):
    check_linear(pattern)

    assert isinstance(compile_pattern(pattern), re.Pattern)


@pytest.mark.parametrize(("pattern", "reason"), UNSAFE)
def test_a_pattern_that_could_block_is_outside_the_subset(pattern: str, reason: str):
    with pytest.raises(PatternError, match=re.escape(reason)):
        check_linear(pattern)


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_patterns, "_linear_engine", lambda: None)
    compile_pattern.cache_clear()

    with pytest.raises(PatternError, match=r"agenttrace-otel\[re2\]"):
        compile_pattern("(a+)+b")
    compile_pattern.cache_clear()


def test_the_extra_matches_in_linear_time_what_python_could_not():
    pytest.importorskip("re2")
    compile_pattern.cache_clear()

    # Python's own engine would be at it for 2**50000 steps.
    assert compile_pattern("(a+)+b").fullmatch("a" * 50_000) is None
    assert compile_pattern("(a|b)*").fullmatch("abab") is not None
    assert compile_pattern("(a|b)*").fullmatch("\ud800") is None


def test_what_neither_engine_takes_is_refused():
    pytest.importorskip("re2")

    with pytest.raises(PatternError, match="re2 refuses it too"):
        compile_pattern(r"(a)\1")


pieces = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "(a)", "(?:ab)", "(a|b)", "(a|)", "-"]
)
counts = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0,3}", "*?"])


@given(parts=st.lists(st.tuples(pieces, counts), max_size=7), tail=st.sampled_from(["", "a", "!"]))
def test_no_accepted_pattern_blocks_on_a_long_value(parts: list[tuple[str, str]], tail: str):
    pattern = "".join(part + count for part, count in parts)
    try:
        check_linear(pattern)
    except PatternError:
        return
    compiled = re.compile(pattern)

    for text in ("a" * 3_000, "ab" * 1_500, "1" * 3_000):
        assert not hangs(lambda text=text: compiled.fullmatch(text + tail), beyond_s=10)


@pytest.mark.parametrize("read", [compile_pattern, compile_search])
def test_a_pattern_of_more_characters_than_are_read_is_refused_at_once(read):
    with pytest.raises(PatternError, match="longer than the 10000 characters"):
        read("(a|b)" * 1_000_000)
