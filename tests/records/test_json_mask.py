"""Masking inside text that is JSON, nearly JSON, or none at all; and exact slices of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.records import (
    Found,
    at_pointer,
    canonical,
    mask_text,
    parse_json,
    slice_at,
    slices,
)
from agenttrace.records._json_lex import decode_string
from agenttrace.records._json_pointer import join_pointer
from tests.records.test_json_text import jsonish, layouts, objects, texts, values
from tests.support.steps import grows_linearly, hangs

brokenish = st.lists(
    st.sampled_from(
        [
            *"{}[],:=\"'\\ \n",
            "api_key",
            "a",
            '"api_key":',
            "'api_key': ",
            '\\"',
            '\\\\\\"',
            "x1",
            "tru",
            "-1",
            "b'",
            "https://a:b",
            '"secret"',
            "=>",
            "\x00",
            "�",
            "é",
        ]
    ),
    max_size=30,
).map("".join)


def hide(found: Found) -> str | None:
    return '"***"' if found.key == "api_key" else None


def shown(text: str) -> list[tuple[tuple[str | int, ...], str, object]]:
    """Return all that a masker is shown which masks nothing."""
    seen: list[tuple[tuple[str | int, ...], str, object]] = []

    def look(found: Found) -> None:
        seen.append((found.path, found.source, found.value))

    mask_text(text, look)
    return seen


def places(value: object) -> list[tuple[tuple[str | int, ...], object]]:
    """Return every value inside a value with its path, in the order of its text."""
    found: list[tuple[tuple[str | int, ...], object]] = []

    def visit(inner: object, path: tuple[str | int, ...]) -> None:
        if path:
            found.append((path, inner))
        if isinstance(inner, dict):
            for key, item in inner.items():
                visit(item, (*path, key))
        elif isinstance(inner, list):
            for index, item in enumerate(inner):
                visit(item, (*path, index))

    visit(value, ())
    return found


class TestMasking:
    @given(text=texts | jsonish | brokenish)
    def test_without_an_answer_any_text_stays_what_it_is(self, text):
        assert mask_text(text, lambda _: None) == text

    @given(text=jsonish | brokenish)
    def test_whatever_the_text_each_source_is_a_part_of_it_and_answers_replace_parts(self, text):
        answers = iter(range(10_000))
        hidden: list[str] = []

        def number(found: Found) -> str | None:
            count = next(answers)
            if count % 3:
                return None
            hidden.append(found.source)
            return f"\x01{len(hidden) - 1}\x02"

        masked = mask_text(text, number)

        assert re.sub("\x01([0-9]+)\x02", lambda m: hidden[int(m[1])], masked) == text

    @given(value=values, layout=layouts)
    def test_in_valid_text_every_value_is_shown_once_with_its_path(self, value, layout):
        text = json.dumps(value, **layout)

        seen = shown(text)

        expected = places(json.loads(text))
        assert [path for path, _, _ in seen] == [path for path, _ in expected]
        for (_, source, decoded), (_, inner) in zip(seen, expected, strict=True):
            assert canonical(parse_json(source).value) == canonical(inner)
            assert decoded is None or repr(decoded) == repr(inner)

    @given(value=objects, layout=layouts, data=st.data())
    def test_in_truncated_text_all_that_started_is_shown_with_its_path(self, value, layout, data):
        text = json.dumps(value, **layout)
        cut = data.draw(st.integers(0, len(text)))

        started: list[tuple[str | int, ...]] = []

        def look(found: Found) -> None:
            if found.end - len(found.source) < cut:
                started.append(found.path)

        mask_text(text, look)
        paths = [path for path, _, _ in shown(text[:cut])]

        # Behind them there may be what an unterminated string holds.
        assert paths[: len(started)] == started

    @given(secret=st.text(min_size=1), layout=layouts, data=st.data())
    def test_a_secret_is_gone_wherever_the_text_is_cut(self, secret, layout, data):
        text = json.dumps({"a": [1, {"api_key": f"sk-secret-{secret}"}]}, **layout)
        start = text.index("sk-secret-")
        cut = data.draw(st.integers(start + 1, len(text)))

        masked = mask_text(text[:cut], hide)

        assert "sk" not in masked
        assert masked.startswith(text[: start - 1] + '"***"')

    @pytest.mark.parametrize(
        ("text", "masked"),
        [
            ('{"api_key": "x\\"y", "b": 1.50}', '{"api_key": "***", "b": 1.50}'),
            ('{"api_key": {"a": [1, "}"]}, "b": 1}', '{"api_key": "***", "b": 1}'),
            ('{"api_key": [1, {"a": "', '{"api_key": "***"'),
            ('{"api_key": 12', '{"api_key": "***"'),
            ('{"api_key": ', '{"api_key": '),
            ('{"\\u0061pi_key": "x"}', '{"\\u0061pi_key": "***"}'),
            ('{"n": NaN, "api_key": "x"}', '{"n": NaN, "api_key": "***"}'),
            ('{"n": 1,, "api_key": "x"}', '{"n": 1,, "api_key": "***"}'),
            ('{"n": tru "api_key": "x"}', '{"n": tru "api_key": "***"}'),
            ('{"n": "a" "api_key": "x"}', '{"n": "a" "api_key": "***"}'),
            ('{"n" "api_key": "x"}', '{"n" "api_key": "***"}'),
            ('{"n": "no end, "api_key": "x"}', '{"n": "no end, "api_key": "***"}'),
            ('{"n": "no end,\n"api_key": "x"}', '{"n": "no end,\n"api_key": "***"}'),
            ('{"n": no start", "api_key": "x"}', '{"n": no start", "api_key": "***"}'),
            ('{"api_key": "x\n\ty", "n": 1}', '{"api_key": "***", "n": 1}'),
            ('{"api_key": "in"ner", "n": 1}', '{"api_key": "***", "n": 1}'),
            ('{"api_key": "C:\\q", "n": 1}', '{"api_key": "***", "n": 1}'),
            ("{'api_key': 'x', 'n': None}", "{'api_key': \"***\", 'n': None}"),
            ("{'api_key': 'don\\'t'}", "{'api_key': \"***\"}"),
            ("{'api_key': b'x'}", "{'api_key': \"***\"}"),
            ("{api_key: Bearer x y, n: 1}", '{api_key: "***", n: 1}'),
            ("{api_key: https://a:b@c, n: 1}", '{api_key: "***", n: 1}'),
            ("{n: one api_key: x}", '{n: one api_key: "***"}'),
            ('{n: api_key: "x"}', '{n: api_key: "***"}'),
            ('"api_key": "x"', '"api_key": "***"'),
            ("api_key: x", 'api_key: "***"'),
            ('{"api_key":: "x"}', '{"api_key":: "***"}'),
            ('{"api_key"=>"x"}', '{"api_key"=>"***"}'),
            ("Client(api_key='x', n=1)", 'Client(api_key="***", n=1)'),
            ('{"a": 1}\n{"api_key": "x"}\n', '{"a": 1}\n{"api_key": "***"}\n'),
            ('data: {"api_key": "x"}\n\ndata: [DONE]', 'data: {"api_key": "***"}\n\ndata: [DONE]'),
            ('{"t": "{\\"api_key\\": \\"x', '{"t": "{\\"api_key\\": "***"'),
            ('{"t": "{\\"api_key\\": \\"x" 1}', '{"t": "{\\"api_key\\": "***"" 1}'),
            ('{"\\"": 1, "a\\"b" 1, "api_key": "x"}', '{"\\"": 1, "a\\"b" 1, "api_key": "***"}'),
            ('}]{"api_key": "x"}', '}]{"api_key": "***"}'),
            ('{"a": [1, {"b": 2], "api_key": "x"}', '{"a": [1, {"b": 2], "api_key": "***"}'),
        ],
    )
    def test_a_secret_is_found_before_in_and_behind_a_fault(self, text, masked):
        assert mask_text(text, hide) == masked

    def test_what_stands_in_a_sound_string_is_not_taken_for_a_key(self):
        text = '{"note": "the \\"api_key\\": \\"x\\" of", "n": "api_key: y"}'

        assert mask_text(text, hide) == text
        assert mask_text(text[:-1], hide) == text[:-1]

    def test_the_content_of_a_masked_container_is_not_shown(self):
        seen: list[tuple[str | int, ...]] = []

        def mask(found: Found) -> str | None:
            seen.append(found.path)
            return "0" if found.key == "a" else None

        masked = mask_text('{"a": {"b": [1]}, "c": {"d": [2]}}', mask)

        assert masked == '{"a": 0, "c": {"d": [2]}}'
        assert seen == [("a",), ("c",), ("c", "d"), ("c", "d", 0)]

    def test_an_unterminated_string_is_shown_as_far_as_it_goes(self):
        assert shown('{"a": "b\\n\\u00e9\\u00') == [
            (("a",), '"b\\n\\u00e9\\u00', "b\né"),
        ]

    def test_what_cannot_be_decoded_is_shown_as_source(self):
        seen = shown('{"a": "\\q", "b": NaN, "c": None, "d": "\t", \'e\': \'f\', "g": null}')

        assert [(source, value) for _, source, value in seen] == [
            ('"\\q"', None),
            ("NaN", None),
            ("None", None),
            ('"\t"', "\t"),
            ("'f'", "f"),
            ("null", None),
        ]

    def test_an_error_of_the_masker_passes_through(self):
        def fail(_: Found) -> str:
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            mask_text('{"a": 1}', fail)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "unit",
        [
            "{",
            "[",
            '{"a":',
            "[{'a':",
            '"',
            "'",
            '\\"',
            "\\",
            '"\\"',
            '"a":"b"c',
            '"k":"',
            "'k':'",
            "a:",
            "a: ",
            "a=",
            'a="',
            "a b ",
            "a",
            " ",
            "\n",
            "}",
            "]}",
            '"a" ',
            "{k: a=a",
            '"k":\\"',
            '{"a":1,',
            "[1,",
            '{"a":"\\"",',
            "\"'",
            '\\"k\\": ',
            '"k": \'',
            "{]",
            '[{"',
            "é",
            "a" * 300,
            '"' + "a" * 190,
            '"x\\"y":',
            '\\"k\\":\\\\\\"',
            '"a":"b" c:',
            "https://",
            "k:\"'",
            "k:{",
        ],
    )
    @pytest.mark.parametrize("prefix", ["", "{k: "])
    def test_work_grows_as_the_text_does(self, unit, prefix):
        def mask(count: int) -> None:
            text = prefix + unit * (count // len(unit))
            mask_text(text, lambda found: "0" if found.key == "b" else None)

        assert grows_linearly(mask, 1_000)
        assert not hangs(lambda: mask(40_000), beyond_s=3)

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", ['{"a":', "[", '{"a":[', "{'a':\"", '{"a":"\\"{[\'', "{]["])
    def test_asking_where_containers_end_does_not_make_work_grow_faster(self, unit):
        def mask(count: int) -> None:
            mask_text(unit * (count // len(unit)), lambda found: str(found.end)[:0] or None)

        assert grows_linearly(mask, 1_000)
        assert not hangs(lambda: mask(40_000), beyond_s=3)


class TestSlices:
    @given(value=values, layout=layouts)
    def test_every_slice_reads_as_the_value_at_its_pointer(self, value, layout):
        text = json.dumps(value, **layout)
        expected = json.loads(text)
        pointers = ["", *(join_pointer(path) for path, _ in places(expected))]

        found = slices(text, pointers)

        assert found.keys() == set(pointers)
        for pointer, source in found.items():
            assert source in text
            assert repr(parse_json(source).value) == repr(at_pointer(expected, pointer, "absent"))

    @given(text=texts | jsonish | brokenish)
    def test_no_text_makes_it_raise(self, text):
        assert slices(text, ["", "/a", "/0", "/0/a"]).keys() <= {"", "/a", "/0", "/0/a"}

    def test_a_slice_is_the_providers_own_text(self):
        raw = '{ "b":1.0,  "a" : "\\u00e9" }'
        body = json.dumps({"choices": [{"message": {"tool_calls": [0, {"arguments": raw}]}}]})
        pointer = "/choices/0/message/tool_calls/1/arguments"

        assert decode_string(slice_at(body, pointer) or "") == raw
        assert slice_at('{"content": [{"input": %s}]}' % raw, "/content/0/input") == raw  # noqa: UP031

    @pytest.mark.parametrize("pointer", ["/b", "/a/b", "/l/2", "/l/00", "/l/-", "/l/0/0", "//"])
    def test_where_nothing_stands_there_is_no_slice(self, pointer):
        assert slice_at('{"a": 1, "l": [1, 2]}', pointer) is None

    def test_of_a_repeated_key_the_last_value_counts(self):
        text = '{"a": {"b": 1}, "c": 2, "a": {"d": 3}}'

        assert slices(text, ["/a", "/a/b", "/a/d", "/c"]) == {
            "/a": '{"d": 3}',
            "/a/d": "3",
            "/c": "2",
        }

    def test_of_a_cut_or_broken_text_what_ended_before_is_returned(self):
        text = '{"a": {"b": [1, "x"], "c": tru'

        assert slices(text, ["", "/a", "/a/b", "/a/b/1", "/a/c"]) == {
            "/a/b": '[1, "x"]',
            "/a/b/1": '"x"',
        }

    def test_what_is_no_pointer_is_refused(self):
        with pytest.raises(ValueError, match="not a JSON pointer"):
            slice_at("{}", "a")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "unit", ["[", '{"a":', "[1,", '{"a":1,"a":', '{"a":1,"b":"x\\ny","c":[']
    )
    def test_work_grows_as_the_text_does(self, unit):
        cut: Callable[[int], object] = lambda count: slice_at(  # noqa: E731
            unit * (count // len(unit)), "/a/a/a"
        )

        assert grows_linearly(cut, 1_000)
        assert not hangs(lambda: cut(40_000), beyond_s=3)
