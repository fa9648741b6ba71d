"""Reading and writing JSON text: values, faults, argument text, pointers."""

from __future__ import annotations

import json
import math
import pickle
import sys
from types import MappingProxyType

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agenttrace.records import (
    JsonTextError,
    at_pointer,
    canonical,
    canonical_writer,
    dump_json,
    escape,
    parse_arguments,
    parse_json,
    split_pointer,
    without,
)
from agenttrace.records._json_lex import decode_string
from agenttrace.records._json_pointer import join_pointer
from tests.support.steps import grows_linearly, hangs

texts = st.text(st.characters())  # lone surrogates too
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(texts, values, max_size=4)
layouts = st.sampled_from(
    [
        {},
        {"ensure_ascii": False},
        {"indent": 2},
        {"separators": (" , ", "\t:\r\n")},
        {"separators": (",", ":")},
    ]
)
jsonish = st.lists(
    st.sampled_from(
        [*'{}[],:"\\ \n0-1.eE', "true", "nul", '"a"', '\\"', "\\u00", "\x00", "\ud800", "NaN"]
    ),
    max_size=25,
).map("".join)


def fault(text: str) -> JsonTextError:
    with pytest.raises(JsonTextError) as caught:
        parse_json(text)
    return caught.value


class TestReading:
    @given(value=values, layout=layouts)
    def test_what_the_json_module_writes_is_read_as_the_same_value(self, value, layout):
        document = parse_json(json.dumps(value, **layout))

        expected = json.loads(json.dumps(value, **layout))
        assert repr(document.value) == repr(expected)
        assert document.duplicates == ()

    @given(value=values, layout=layouts)
    def test_the_positional_tokenizer_reads_what_the_c_scanner_reads(self, value, layout):
        text = json.dumps(value, **layout)

        positional = parse_json('{"a": 0, "a": %s}' % text)  # noqa: UP031

        assert repr(positional.value) == repr({"a": json.loads(text)})

    @given(text=texts | jsonish)
    def test_what_the_json_module_refuses_is_refused_and_nothing_else_is_raised(self, text):
        try:
            value = json.loads(text, parse_constant=int)
        except ValueError:
            error = fault(text)
            assert 0 <= error.offset <= len(text)
        else:
            assert repr(parse_json(text).value) == repr(value)

    @given(value=values, layout=layouts, data=st.data())
    def test_the_end_of_a_proper_beginning_is_its_only_fault(self, value, layout, data):
        text = json.dumps([value], **layout)
        cut = data.draw(st.integers(0, len(text) - 1))

        error = fault(text[:cut])

        assert error.truncated
        assert error.offset == cut

    @pytest.mark.parametrize(
        ("text", "line", "column"),
        [
            ('{"a": NaN}', 1, 7),
            ("[1, Infinity]", 1, 5),
            ("[-Infinity]", 1, 2),
            ("[1,\n2,]", 2, 3),
            ('{"a": 1,}', 1, 9),
            ('{"a": 1} x', 1, 10),
            ('{"a":\n\n "b\tc"}', 3, 4),
            ('["a\\q"]', 1, 4),
            ('["\\u12g4"]', 1, 3),
            ("[01]", 1, 2),
            ("[1.]", 1, 2),
            ("[+1]", 1, 2),
            ("[1e999]", 1, 2),
            ("1e999", 1, 1),
            ("{'a': 1}", 1, 2),
            ("{a: 1}", 1, 2),
            ('{"a" 1}', 1, 6),
            ("[1 2]", 1, 4),
            ("[1}", 1, 3),
            ("[truex", 1, 2),
            ("\ufeff{}", 1, 1),
            ("[\xa01]", 1, 2),
            ("]", 1, 1),
        ],
    )
    def test_malformed_text_is_refused_where_its_fault_stands(self, text, line, column):
        error = fault(text)

        assert (error.line, error.column, error.truncated) == (line, column, False)
        assert str(error).startswith(f"line {line}, column {column}: ")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "[",
            '{"a',
            '{"a\\',
            '{"a\\u00',
            '{"a"',
            '{"a":',
            "[1",
            "-",
            "1.",
            "1e",
            "1e+",
            "[1,",
            "tru",
            "[nul",
            "[" + "1" * 400 + ".0",
            "[" + "1" * 400 + ".0e-10",
        ],
    )
    def test_text_that_could_go_on_is_truncated(self, text):
        assert fault(text).truncated

    def test_an_error_quotes_one_character_and_survives_pickling(self):
        error = fault('{"password": "hunter2" "x": 1}')

        copy = pickle.loads(pickle.dumps(error))
        assert "hunter2" not in str(error)
        assert (str(copy), copy.offset, copy.truncated) == (str(error), 23, False)

    @pytest.mark.parametrize("digits", [600, 601, 4_300, 4_301, 5_000, 100_000])
    @pytest.mark.parametrize("sign", ["", "-"])
    def test_integers_of_any_length_are_exact(self, digits, sign):
        text = sign + ("1234567890" * (digits // 10 + 1))[:digits]

        value = parse_json(f"[{text}]").value

        assert dump_json(value) == f"[{text}]"
        assert value[0] % 10**9 == int(text[-9:]) if not sign else value[0] < 0

    def test_an_integer_beyond_the_bound_is_refused_both_ways(self):
        assert "digits" in fault("9" * 100_001).reason
        with pytest.raises(ValueError, match="digits"):
            dump_json(10**100_001)

    def test_the_interpreter_without_a_digit_limit_is_no_less_bounded(self):
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            error = fault("9" * 3_000_000)
        finally:
            sys.set_int_max_str_digits(limit)

        assert not error.truncated

    def test_repeated_keys_are_listed_with_their_places_and_the_last_value_counts(self):
        text = '{"a": 1,\n "b": [0, {"x/y": 1, "x\\/y": 2}],\n "a": 3, "a": 4}'

        document = parse_json(text)

        assert document.value == {"a": 4, "b": [0, {"x/y": 2}]}
        assert [(each.pointer, each.line, each.column) for each in document.duplicates] == [
            ("/b/1/x~1y", 2, 22),
            ("/a", 3, 2),
            ("/a", 3, 10),
        ]

    def test_of_many_repeated_keys_the_first_are_listed_and_all_are_counted(self):
        document = parse_json("{" + '"a":1,' * 5_000 + '"a":1}')

        assert (len(document.duplicates), document.duplicate_count) == (100, 5_000)


class TestHostileText:
    @pytest.mark.parametrize(
        ("opening", "middle", "closing", "depth"),
        [
            ("[", "", "]", 100_000),
            ('{"a":', "1", "}", 10_000),
            ('[{"a":', "[]", "}]", 10_000),
            ('{"a":1,"a":', "1", "}", 10_000),
        ],
    )
    def test_any_depth_is_read_and_written(self, opening, middle, closing, depth):
        text = opening * depth + middle + closing * depth

        written = dump_json(parse_json(text).value)

        assert written == text.replace('"a":1,', "")

    def test_a_raised_recursion_limit_does_not_reach_the_c_stack(self):
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(10**9 // 2)
        try:
            value = parse_json("[" * 30_000 + "]" * 30_000).value
            written = dump_json(value)
        finally:
            sys.setrecursionlimit(limit)

        assert len(written) == 60_000

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "unit",
        [
            "[",
            '{"a":',
            '{"a":1,"a":',
            '"\\u',
            '["',
            "[1,",
            "\\",
            '"\\"',
            "[1e5,",
            " ",
            "-",
            "9",
            "\n",
            '["\\n",',
            '["�",',
            "{",
            "[[],",
        ],
    )
    def test_work_grows_as_the_text_does(self, unit):
        def read(count: int) -> None:
            parse_arguments(unit * (count // len(unit)))

        assert grows_linearly(read, 1_000)
        assert not hangs(lambda: read(64_000), beyond_s=5)

    def test_a_long_string_full_of_escapes_is_read_and_refused(self):
        inner = 'a\\"' * 330_000

        assert len(parse_json(f'"{inner}"').value) == 660_000
        assert fault(f'["{inner}').truncated
        assert not fault(f'["{inner}\\x"]').truncated


class TestArguments:
    @given(value=objects, layout=layouts, data=st.data())
    def test_every_proper_beginning_of_an_object_is_truncated(self, value, layout, data):
        text = json.dumps(value, **layout)
        cut = data.draw(st.integers(1, len(text) - 1))

        arguments = parse_arguments(text[:cut])

        assert (arguments.state, arguments.value) == ("truncated", None)
        assert f"column {len(text[:cut].rpartition(chr(10))[2]) + 1}:" in (arguments.error or "")

    @pytest.mark.parametrize("raw", [None, "", " ", "\n\t", "\xa0"])
    def test_absent_and_blank_text_is_the_empty_object(self, raw):
        arguments = parse_arguments(raw)

        assert (arguments.value, arguments.state, arguments.error) == ({}, "empty", None)

    @pytest.mark.parametrize(
        ("raw", "state"),
        [
            ("{}", "object"),
            (' {"a": {"b": null}} ', "object"),
            (' {"a": 1', "truncated"),
            ("[1, 2", "malformed"),
            ('"{}', "malformed"),
            ("{'a': 1}", "malformed"),
            ('{"a": NaN}', "malformed"),
            ('{"a": 1}}', "malformed"),
            ("[]", "not_object"),
            ('"{}"', "not_object"),
            ("null", "not_object"),
            ("12", "not_object"),
            ('{"a": 1, "a": 1}', "duplicate_keys"),
            ('{"b": [{"a": 1, "a": 2}]}', "duplicate_keys"),
        ],
    )
    def test_the_state_says_what_the_text_is(self, raw, state):
        arguments = parse_arguments(raw)

        assert arguments.state == state
        assert (arguments.value is None) == (state != "object") == (arguments.error is not None)

    def test_an_error_about_a_repeated_key_is_short(self):
        arguments = parse_arguments('{"%s": 1, "%s": 2}' % ("k" * 500, "k" * 500))  # noqa: UP031

        assert arguments.error == f"line 1, column 509: the key /{'k' * 18}… is repeated"


class TestWriting:
    @given(value=values)
    def test_what_is_written_is_what_the_json_module_writes(self, value):
        expected = json.dumps(value, sort_keys=True, separators=(",", ":"))

        assert dump_json(value) == expected
        # A key that is no plain dict's makes the iterative writer do the work.
        assert dump_json(MappingProxyType({"": value})) == '{"":%s}' % expected  # noqa: UP031

    @given(value=values)
    def test_what_is_written_is_read_as_the_same_value(self, value):
        written = dump_json(value)

        assert dump_json(parse_json(written).value) == written
        assert written.isascii()

    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
    def test_what_is_no_json_number_is_refused(self, number):
        with pytest.raises(ValueError, match="NaN"):
            dump_json({"a": [number]})

    @pytest.mark.parametrize("value", [{1: 2}, {1, 2}, b"x", object(), {"a": b"x"}, 1j])
    def test_what_has_no_json_form_is_refused(self, value):
        # The standard encoder turns keys that are numbers to text, for plain dicts.
        if value == {1: 2}:
            value = MappingProxyType(value)
        with pytest.raises(TypeError):
            dump_json(value)

    def test_a_value_that_contains_itself_is_refused(self):
        short: list[object] = []
        short.append({"a": short})
        long: list[object] = []
        inner = long
        for _ in range(50_000):
            inner.append([])
            inner = inner[0]
        inner.append(long)

        for value in (short, long):
            with pytest.raises(ValueError, match="contains itself"):
                dump_json(value)

    def test_a_value_used_twice_is_written_twice(self):
        deep: list[object] = []
        for _ in range(5_000):
            deep = [deep]

        assert dump_json([deep, deep]).count("[") == 2 * 5_001 + 1


class TestCanonicalText:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ("1e3", "1000.0"),
            ("-0.0", "0.0"),
            ("-0", "0"),
            ('{"a":1,"b":2}', '{"b":2,"a":1}'),
            ('"\\u00e9"', '"é"'),
            ("[1 , 2]", "[1,2]"),
            ("[-0.0, 1]", "[0e5, 1]"),
        ],
    )
    def test_equal_values_have_one_text(self, left, right):
        assert canonical(parse_json(left).value) == canonical(parse_json(right).value)

    def test_types_order_of_lists_and_absence_make_a_difference(self):
        texts = ["10", "10.0", '"10"', "true", "1", "[1,2]", "[2,1]", "null", '{"a":null}', "{}"]
        texts += ['"-0.0"', '"0.0"', "-0.01", "9007199254740993", "9007199254740992", "[]", "0.0"]

        assert len({canonical(parse_json(text).value) for text in texts}) == len(texts)


class TestPointers:
    @given(parts=st.lists(texts | st.integers(0, 10**6)))
    def test_parts_come_back_out_of_a_pointer(self, parts):
        assert split_pointer(join_pointer(parts)) == tuple(str(part) for part in parts)

    @pytest.mark.parametrize("pointer", ["a", "a/b", "/~", "/a~2b"])
    def test_what_is_no_pointer_is_refused(self, pointer):
        with pytest.raises(ValueError, match="not a JSON pointer"):
            split_pointer(pointer)

    def test_a_pointer_points_to_fields_and_items(self):
        value = {"a/b": [{"~": 1}, None], "": {"": 2}, "0": 3}

        assert at_pointer(value, "", "no") is value
        assert at_pointer(value, "/a~1b/0/~0", "no") == 1
        assert at_pointer(value, "/a~1b/1", "no") is None
        assert at_pointer(value, "//", "no") == 2
        assert at_pointer(value, "/0", "no") == 3
        assert escape("a/~") == "a~1~0"

    @pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/-", "/a/00", "/a/-1", "/a/0/0", "/s/0"])
    def test_where_nothing_stands_the_default_is_returned(self, pointer):
        value = {"a": [1, 2], "s": "text"}

        assert at_pointer(value, pointer, "no") == "no"
        assert at_pointer(value, "/a/" + "9" * 5_000, "no") == "no"
        assert without(value, pointer) is value

    def test_what_is_left_out_is_left_in_the_original(self):
        value = {"a": [{"b": 1, "c": 2}, 5], "d": {"e": 3}}

        assert without(value, "/a/0/b") == {"a": [{"c": 2}, 5], "d": {"e": 3}}
        assert without(value, "/a/0") == {"a": [5], "d": {"e": 3}}
        assert without(value, "/d")["a"] is value["a"]
        assert value == {"a": [{"b": 1, "c": 2}, 5], "d": {"e": 3}}
        with pytest.raises(ValueError, match="whole value"):
            without(value, "")


@given(text=texts)
@example(text="\ud83d\ude00")
def test_a_string_is_decoded_from_its_source(text):
    assume("\ud83d\ude00" not in text or len(text) == 2)

    assert decode_string(json.dumps(text)) == json.loads(json.dumps(text))


@pytest.mark.parametrize("source", ["", "1", '"a', '"a" ', ' "a"', '"\n"', '"\\x"', "'a'"])
def test_what_is_not_exactly_one_string_is_not_decoded(source):
    with pytest.raises(JsonTextError):
        decode_string(source)


@given(st.lists(values, max_size=5))
def test_a_writer_of_many_values_writes_each_as_canonical_text(many):
    write = canonical_writer()

    assert [write(value) for value in many] == [canonical(value) for value in many]


def test_a_writer_goes_on_after_a_value_that_it_refused():
    shared: dict[str, object] = {"a": 1}
    around: list[object] = [shared]
    around.append(around)
    write = canonical_writer()

    for refused, error in ((around, ValueError), ([shared, math.nan], ValueError)):
        with pytest.raises(error):
            write(refused)
    with pytest.raises(TypeError):
        write([shared, object()])

    assert write(shared) == '{"a":1}'
    assert write([shared, MappingProxyType(shared), -0.0]) == '[{"a":1},{"a":1},0.0]'
