"""Changes of one value by kind, and which kind is due for a change.

The kind follows the table of the field cases: the first that holds. It is written down here a
second time, from that table and not from the scorer, which it is there to judge.
"""

from __future__ import annotations

import json
import math
import unicodedata
from datetime import datetime, timedelta
from fractions import Fraction
from random import Random
from typing import Any

Json = Any
MASKS = ("***", "[REDACTED]", "<masked>", "[EMAIL_1]", "4111-****-1111", "[redacted: secret]")
VALUE_KINDS = (
    "masked",
    "truncated",
    "precision_lost",
    "scaled",
    "time_shifted",
    "unicode_normalized",
    "case_changed",
    "whitespace_changed",
    "reordered",
    "nested",
    "type_coerced",
    "value_changed",
)
_SCALES = {Fraction(10) ** power for power in (*range(-9, 0), *range(1, 10))} | {
    Fraction(60),
    Fraction(1, 60),
    Fraction(3600),
    Fraction(1, 3600),
}


def canonical(value: Json) -> str:
    """Text that is equal for equal values alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def due_kind(before: Json, after: Json) -> str | None:
    """The first kind that holds; None where nothing changed."""
    if canonical(before) == canonical(after):
        return None
    if after in MASKS:
        return "masked"
    if _is_beginning(before, after):
        return "truncated"
    numbers = _is_number(before) and _is_number(after)
    if numbers and _is_less_precise(before, after):
        return "precision_lost"
    if numbers and before and after and _exact(after) / _exact(before) in _SCALES:
        return "scaled"
    if isinstance(before, str) and isinstance(after, str):
        kind = _text_kind(before, after)
        if kind is not None:
            return kind
    if _are_same_items(before, after):
        return "reordered"
    if _is_around(before, after) or _is_around(after, before):
        return "nested"
    return "value_changed" if type(before) is type(after) else "type_coerced"


def _are_same_items(before: Json, after: Json) -> bool:
    if not isinstance(before, list) or not isinstance(after, list):
        return False
    return sorted(map(canonical, before)) == sorted(map(canonical, after))


def _is_beginning(before: Json, after: Json) -> bool:
    if isinstance(before, str) and isinstance(after, str):
        return bool(after) and before.startswith(after)
    if isinstance(before, list) and isinstance(after, list):
        return bool(after) and canonical(before[: len(after)]) == canonical(after)
    return False


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact(value: float) -> Fraction:
    return Fraction(repr(value))


def _is_less_precise(before: Json, after: Json) -> bool:
    if isinstance(before, float):
        return bool(after != before and after == math.trunc(before))
    if abs(before) <= 2**53 or before == after:
        return False
    return bool(abs(before - int(after)) <= abs(before) >> 50)


def _text_kind(before: str, after: str) -> str | None:
    if _moment(before) and _moment(after):
        return "time_shifted"
    if unicodedata.normalize("NFKC", before) == unicodedata.normalize("NFKC", after):
        return "unicode_normalized"
    if before.casefold() == after.casefold():
        return "case_changed"
    if "".join(before.split()) == "".join(after.split()):
        return "whitespace_changed"
    return None


def _moment(text: str) -> datetime | None:
    if "T" not in text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _is_around(outer: Json, inner: Json) -> bool:
    """Whether one is JSON text of the other, or an object or list of it alone."""
    if not isinstance(outer, dict | list):
        return False
    if isinstance(inner, str):
        try:
            if canonical(json.loads(inner)) == canonical(outer):
                return True
        except ValueError:
            pass
    items = list(outer.values()) if isinstance(outer, dict) else outer
    return len(items) == 1 and canonical(items[0]) == canonical(inner)


def changed(kind: str, value: Json, random: Random) -> tuple[Json] | None:
    """The value after a change of this kind, in a tuple, since it may be null.

    None: the value does not admit one. Two objects with members are no two values: their members
    are compared one by one. A mask that an earlier fault left is not changed again: what becomes
    of it may be a mask as well.
    """
    if value in MASKS:
        return None
    options = [
        (one,)
        for one in _OPTIONS[kind](value, random)
        if due_kind(value, one) == kind
        and not (isinstance(value, dict) and isinstance(one, dict) and value and one)
    ]
    return random.choice(options) if options else None


def _masked(value: Json, random: Random) -> list[Json]:
    return list(MASKS) if isinstance(value, str | int | float) else []


def _truncated(value: Json, random: Random) -> list[Json]:
    if not isinstance(value, str | list) or len(value) < 2:
        return []
    return [value[: random.randint(1, len(value) - 1)]]


def _precision_lost(value: Json, random: Random) -> list[Json]:
    if isinstance(value, float):
        return [int(value), float(int(value))]
    if _is_number(value) and abs(value) > 2**53:
        return [int(float(value)), value - 1, value + 1, float(value)]
    return []


def _scaled(value: Json, random: Random) -> list[Json]:
    if not _is_number(value) or not value:
        return []
    factor = random.choice([10, 100, 1000, 60, 3600, 10**6])
    if isinstance(value, float):
        return [round(value * factor, 6), round(value / 100, 8), round(value * 1000)]
    return [value * factor, *([value // factor] if value % factor == 0 else [])]


def _time_shifted(value: Json, random: Random) -> list[Json]:
    when = _moment(value) if isinstance(value, str) else None
    if when is None:
        return []
    hours = timedelta(hours=random.choice([-11, -7, -2, -1, 1, 2, 7]))
    moved = [when + hours, when.replace(microsecond=0, second=(when.second + 1) % 60)]
    local = when.replace(tzinfo=None)
    return [
        *(one.isoformat() for one in moved),
        (local + hours).isoformat(),
        f"{local.isoformat()}Z",
    ]


def _unicode_normalized(value: Json, random: Random) -> list[Json]:
    if not isinstance(value, str):
        return []
    forms: list[Json] = [unicodedata.normalize(form, value) for form in ("NFC", "NFD", "NFKC")]
    wide = "".join(chr(ord(c) + 0xFEE0) if "a" <= c <= "z" else c for c in value[:1]) + value[1:]
    return [*forms, wide]


def _case_changed(value: Json, random: Random) -> list[Json]:
    if not isinstance(value, str):
        return []
    return [value.lower(), value.upper(), value.title(), value.swapcase()]


def _whitespace_changed(value: Json, random: Random) -> list[Json]:
    if not isinstance(value, str) or not value:
        return []
    at = random.randint(0, len(value))
    return [
        f"{value} ",
        f" {value}",
        f"{value}\n",
        f"{value[:at]}\t{value[at:]}",
        " ".join(value.split()),
        value.replace(" ", ""),
        value.replace(" ", "\u00a0", 1),
    ]


def _reordered(value: Json, random: Random) -> list[Json]:
    if not isinstance(value, list) or len(value) < 2:
        return []
    return [value[::-1], value[1:] + value[:1], sorted(value, key=canonical)]


def _nested(value: Json, random: Random) -> list[Json]:
    made: list[Json] = [[value], {"value": value}]
    if isinstance(value, dict | list):
        made += [json.dumps(value), canonical(value), json.dumps(value, indent=1)]
        if len(value) == 1:
            made.append(value[0] if isinstance(value, list) else next(iter(value.values())))
    return made


def _type_coerced(value: Json, random: Random) -> list[Json]:
    if isinstance(value, bool):
        return [int(value), str(value).lower(), str(value), None]
    if isinstance(value, int):
        return [str(value), *([float(value)] if abs(value) < 2**53 else []), bool(value), None]
    if isinstance(value, float):
        return [str(value), None]
    if isinstance(value, str):
        return [None, *([int(value)] if value.isdecimal() else []), value.split() or None, True]
    return [None, str(value), True] if value else [None]


def _value_changed(value: Json, random: Random) -> list[Json]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + random.choice([1, 2, 7, -3]), 0]
    if isinstance(value, float):
        return [value + 1.25, -value]
    if isinstance(value, str):
        digits = "".join(str((int(c) + 3) % 10) if c.isdecimal() else c for c in value)
        return [digits, "", "another value", value[1:] + value[:1]]
    if isinstance(value, list):
        longer = [*value, "one_more"]
        last = changed("value_changed", value[-1], random) if value else None
        return [longer, [*value[:-1], *(last or ())], []]
    return [{}]


_OPTIONS = {
    "masked": _masked,
    "truncated": _truncated,
    "precision_lost": _precision_lost,
    "scaled": _scaled,
    "time_shifted": _time_shifted,
    "unicode_normalized": _unicode_normalized,
    "case_changed": _case_changed,
    "whitespace_changed": _whitespace_changed,
    "reordered": _reordered,
    "nested": _nested,
    "type_coerced": _type_coerced,
    "value_changed": _value_changed,
}


def leaves(args: dict[str, Json], at: str = "") -> list[tuple[str, Json]]:
    """Pointer and value of everything that is compared by itself: members, and lists as wholes."""
    found = []
    for key, value in args.items():
        here = f"{at}/{escape(key)}"
        if isinstance(value, dict) and value:
            found += leaves(value, here)
        found.append((here, value))
    return found


def escape(key: str) -> str:
    """A key as part of a JSON Pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def parts_of(pointer: str) -> list[str]:
    """The keys that a JSON Pointer leads through."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def container(args: dict[str, Json], pointer: str) -> tuple[dict[str, Json], str]:
    """The object that a pointer's last key stands in, and that key."""
    *way, last = parts_of(pointer)
    inside = args
    for part in way:
        inside = inside[part]
    return inside, last
