"""A snapshot is a true copy, and takes it without running a line of the value's own code."""

from __future__ import annotations

import collections
import copy
import dataclasses
import datetime as dt
import decimal
import enum
import gc
import io
import json
import pathlib
import sys
import threading
import tracemalloc
import types
import uuid
import weakref
import zoneinfo
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.capture._snapshot import DEFAULT_LIMITS, MARKS, Limits, snapshot
from agenttrace.records import canonical, dump_json
from tests.support.steps import steps

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(json_values)
def test_a_json_value_gives_an_equal_one(value):
    assert canonical(snapshot(value)) == canonical(value)


@given(json_values)
def test_nothing_that_can_change_is_shared(value):
    before = copy.deepcopy(value)
    taken = snapshot(value)

    spoil(value)

    assert canonical(taken) == canonical(before)


def spoil(value: Any) -> None:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
            item.clear()
            item["spoilt"] = True
        elif isinstance(item, list):
            stack += item
            item[:] = ["spoilt"]


@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "#/definitions/x", "$type": "a", "$cut": {}},
        {"k" * 300: "v" * 300, "long" * 100: 1},
        ["\ud800", "\x00", "é"],
        [10**4_000, -(2**64), 0],
        [],
        {},
        {str(n): n for n in range(1_000)},
        [0.0, -0.0, 1e308, 5e-324],
    ],
)
def test_json_that_is_unusual_stays_as_it_is(value):
    assert repr(snapshot(value)) == repr(value)


# What is no JSON


class Color(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    A = "a"


class Flags(enum.IntFlag):
    X = 1
    Y = 2


class Text(str):
    __slots__ = ()


class Number(int):
    pass


class Point(pydantic.BaseModel):
    x: int
    label: str = "p"
    secret: pydantic.SecretStr = pydantic.SecretStr("hidden")


class Loose(pydantic.BaseModel, extra="allow"):
    x: int


class Many(pydantic.RootModel[list[Point]]):
    pass


@dataclasses.dataclass
class Order:
    order_id: str
    lines: list[Any] = dataclasses.field(default_factory=list)
    kind: dataclasses.InitVar[int] = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: Any = None


Pair = collections.namedtuple("Pair", "a b")

HIDDEN = {"$type": "pydantic.types.SecretStr"}
AWARE = dt.datetime(2026, 11, 30, 12, 0, 1, 5, tzinfo=dt.UTC)

KINDS: list[tuple[Any, Any]] = [
    (float("nan"), {"$float": "nan"}),
    (float("-inf"), {"$float": "-inf"}),
    (decimal.Decimal("9800.10"), {"$decimal": "9800.10"}),
    (decimal.Decimal("1E+3"), {"$decimal": "1E+3"}),
    (1 + 2j, {"$complex": "(1+2j)"}),
    (b"ab", {"$bytes": "YWI="}),
    (bytearray(b"ab"), {"$bytes": "YWI="}),
    (range(1, 9, 2), {"$range": "1:9:2"}),
    ({3, 1, 2}, {"$set": [1, 2, 3]}),
    (frozenset({"b", "a"}), {"$set": ["a", "b"]}),
    (frozenset({1, "1", None, True + 1, 2.5}), {"$set": [None, 1, 2, 2.5, "1"]}),
    ((1, (2,)), [1, [2]]),
    (Pair(1, [2]), [1, [2]]),
    (collections.deque([1, 2]), [1, 2]),
    (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    (collections.defaultdict(list, a=[1]), {"a": [1]}),
    (collections.Counter("aab"), {"a": 2, "b": 1}),
    (Text("t"), "t"),
    (Number(5), 5),
    (True, True),
    (Color.RED, "red"),
    (Color.PAIR, [1, 2]),
    (Level.HIGH, 3),
    (Word.A, "a"),
    (Flags.X | Flags.Y, 3),
    (AWARE, "2026-11-30T12:00:01.000005+00:00"),
    (dt.datetime(2026, 1, 2, tzinfo=zoneinfo.ZoneInfo("UTC")), "2026-01-02T00:00:00+00:00"),
    (dt.datetime(2026, 1, 2), "2026-01-02T00:00:00"),  # noqa: DTZ001
    (dt.date(2026, 1, 2), "2026-01-02"),
    (dt.time(1, 2), "01:02:00"),
    (dt.timedelta(days=1, hours=2, seconds=3.5), "P1DT2H3.5S"),
    (dt.timedelta(seconds=-90), "-PT1M30S"),
    (dt.timedelta(), "PT0S"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (pathlib.PurePosixPath("/a/b"), "/a/b"),
    (Point(x=1), {"x": 1, "label": "p", "secret": HIDDEN}),
    (Loose(x=1, more=[2]), {"x": 1, "more": [2]}),
    (Many([Point(x=1)]), [{"x": 1, "label": "p", "secret": HIDDEN}]),
    (Order("A", [1]), {"order_id": "A", "lines": [1]}),
    (Slotted(1, {"c": 2}), {"a": 1, "b": {"c": 2}}),
    (print, {"$type": "builtins.builtin_function_or_method"}),
    (Order, {"$type": "builtins.type"}),
    (io.StringIO("x"), {"$type": "_io.StringIO"}),
    (threading.Lock(), {"$type": "_thread.lock"}),
    (types.MappingProxyType({"a": 1}), {"$type": "builtins.mappingproxy"}),
    (object(), {"$type": "builtins.object"}),
    (ValueError("secret"), {"$type": "builtins.ValueError"}),
]


@pytest.mark.parametrize(("value", "expected"), KINDS, ids=lambda v: type(v).__name__)
def test_each_type_has_its_form(value, expected):
    assert canonical(snapshot(value)) == canonical(expected)
    assert canonical(snapshot({"a": [value]})) == canonical({"a": [expected]})


def test_attrs_classes_are_their_fields():
    attrs = pytest.importorskip("attrs")
    plain = attrs.make_class("Plain", ["x"], slots=False)
    slotted = attrs.make_class("Slotted", ["x", "y"], slots=True)

    assert snapshot([plain(1), slotted(2, [3])]) == [{"x": 1}, {"x": 2, "y": [3]}]


def test_numpy_values_are_numbers_and_small_arrays_lists():
    np = pytest.importorskip("numpy")

    taken = snapshot(
        [np.float64(1.5), np.int32(3), np.bool_(True), np.array([[1, 2]]), np.array([np.nan])]
    )

    assert canonical(taken) == canonical([1.5, 3, True, [[1, 2]], [{"$float": "nan"}]])
    assert snapshot(np.zeros((200, 300))) == {
        "$type": "numpy.ndarray",
        "shape": [200, 300],
        "dtype": "<f8",
    }
    assert snapshot(np.array([object()]))["$type"] == "numpy.ndarray"


def test_keys_that_are_no_text_keep_their_types_apart():
    value = {
        1: "int",
        "1": "text",
        None: "null",
        2.5: "float",
        False: "bool",
        (1, "a"): "tuple",
        b"z": "bytes",
        Color.RED: "enum",
        "red": "red",
        dt.date(2026, 1, 2): "date",
        "$int:1": "a text that looks like it",
        frozenset({2, 1}): "set",
    }

    assert snapshot(value) == {
        "$int:1#2": "int",
        "1": "text",
        "$null": "null",
        "$float:2.5": "float",
        "$bool:false": "bool",
        '$tuple:[1,"a"]': "tuple",
        "$bytes:eg==": "bytes",
        "red#2": "enum",
        "red": "red",
        "2026-01-02": "date",
        "$int:1": "a text that looks like it",
        "$set:[1,2]": "set",
    }


def test_a_generator_is_named_and_not_consumed():
    numbers = (n for n in range(3))

    assert snapshot({"rows": numbers}) == {"rows": {"$type": "builtins.generator"}}
    assert list(numbers) == [0, 1, 2]


def test_a_file_is_named_and_not_read():
    file = io.BytesIO(b"abc")

    assert snapshot(file) == {"$type": "_io.BytesIO"}
    assert file.read() == b"abc"


def test_a_container_inside_itself_is_marked():
    items: list[Any] = [1]
    items.append(items)
    table: dict[str, Any] = {"a": {"b": []}}
    table["a"]["b"].append(table)
    order = Order("A")
    order.lines.append(order)

    assert snapshot(items) == [1, {"$cycle": 1}]
    assert snapshot(table) == {"a": {"b": [{"$cycle": 3}]}}
    assert snapshot(order) == {"order_id": "A", "lines": [{"$cycle": 2}]}


def test_a_container_that_stands_twice_is_copied_twice():
    same = [1, {"a": [2]}]

    taken = snapshot({"x": same, "y": [same, same]})

    assert taken == {"x": [1, {"a": [2]}], "y": [[1, {"a": [2]}], [1, {"a": [2]}]]}
    assert taken["x"] is not taken["y"][0]


def test_sets_are_in_the_same_order_whatever_order_they_are_in():
    words = [f"w{n}" for n in range(100)]
    backwards = words[::-1]

    assert snapshot(set(words)) == snapshot(set(backwards)) == {"$set": sorted(words)}
    assert snapshot({frozenset({2, 1}), frozenset({4, 3})}) == {
        "$set": [{"$set": [1, 2]}, {"$set": [3, 4]}]
    }


# Limits


@pytest.mark.parametrize("depth", [5_000, 9_000])
def test_deep_values_are_copied(depth: int):
    value: Any = {"end": [1]}
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}

    assert dump_json(snapshot(value)) == dump_json(value)


def test_what_is_deeper_than_the_limit_is_marked():
    value: Any = []
    for _ in range(50_000):
        value = [value]

    taken = snapshot(value)

    depth = 0
    while isinstance(taken, list):
        taken, depth = taken[0], depth + 1
    assert depth == DEFAULT_LIMITS.depth
    assert taken == {"$cut": {"type": "list", "length": 1, "head": []}}


def test_a_text_of_a_megabyte_is_whole_and_a_longer_one_is_cut_with_its_digest():
    whole, longer = "x" * 2**20, "x" * (2**20 + 1)

    assert snapshot({"a": whole}) == {"a": whole}
    assert snapshot({"a": longer}, digest=lambda text: f"d{len(text)}") == {
        "a": {"$cut": {"type": "str", "length": 2**20 + 1, "head": "x" * 256, "digest": "d1048577"}}
    }
    assert "digest" not in snapshot(longer)["$cut"]


def test_bytes_over_the_limit_are_cut():
    taken = snapshot(b"a" * 2_000_000, digest=lambda data: str(len(data)))

    assert taken["$cut"]["length"] == 2_000_000
    assert taken["$cut"]["digest"] == "2000000"


def test_all_texts_together_are_bounded():
    taken = snapshot([f"{n}" + "x" * 1_000_000 for n in range(100)])

    assert len(dump_json(taken)) < 2 * DEFAULT_LIMITS.all_text
    assert taken[99]["$cut"]["length"] == 1_000_002


def test_items_beyond_the_limit_are_cut_with_their_number():
    taken = snapshot({"rows": list(range(1_000_000)), "n": 1})

    assert taken["n"] == 1
    assert taken["rows"]["$cut"]["length"] == 1_000_000
    assert taken["rows"]["$cut"]["head"] == list(range(100))


def test_a_value_that_doubles_at_each_level_costs_bounded_work():
    value: Any = ["x"]
    for _ in range(64):
        value = [value, value]

    # It holds 2**64 texts: without a bound this does not come back.
    assert "$cut" in dump_json(snapshot(value))


def test_smaller_limits_are_kept():
    limits = Limits(text=5, items=3, depth=2, head=2)

    assert snapshot("abcdef", limits=limits) == {"$cut": {"type": "str", "length": 6, "head": "ab"}}
    assert snapshot({"a": [[[1]]]}, limits=limits) == {
        "a": [{"$cut": {"type": "list", "length": 1, "head": []}}]
    }


def test_an_integer_without_end_is_hexadecimal():
    taken = snapshot(1 << 1_000_000)

    assert taken["$int"].startswith("0x1000")


def test_a_hundred_megabytes_are_neither_walked_nor_copied():
    value = {"a": "x" * 10**8, "b": [1] * 12_500_000}

    assert steps(lambda: snapshot(value)) < 5_000
    tracemalloc.start()
    snapshot(value)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**7


# Hostile values


class Ran(BaseException):
    """Not an Exception, so that no guard can hide that foreign code ran."""


calls: list[str] = []


def trap(name: str) -> Any:
    def run(*_: Any, **__: Any) -> Any:
        calls.append(name)
        raise Ran(name)

    return run


TRAPPED = [
    *("__repr__", "__str__", "__eq__", "__ne__", "__lt__", "__bool__", "__len__", "__iter__"),
    *("__getattribute__", "__getattr__", "__getitem__", "__contains__", "__call__", "__format__"),
    *("__int__", "__index__", "__float__", "__bytes__", "__reduce__", "__reduce_ex__", "__copy__"),
    *("__deepcopy__", "__dir__", "__sizeof__", "__length_hint__", "__next__", "__fspath__"),
    *("__instancecheck__", "__subclasscheck__", "items", "keys", "values", "isoformat", "copy"),
    *("tolist", "item", "model_dump", "dict", "_asdict", "__array__", "__buffer__", "__add__"),
    *("__sub__", "__rsub__", "__gt__", "__ge__", "__le__", "__missing__", "__reversed__"),
]
TRAPS = {name: trap(name) for name in TRAPPED}
PROPERTIES = {
    name: property(trap(name))
    for name in ("__class__", "__dict__", "__dataclass_fields__", "__attrs_attrs__", "_value_")
}


class HostileMeta(type):
    """Asking the class anything runs code as well."""

    __eq__ = trap("meta.__eq__")
    __hash__ = trap("meta.__hash__")  # type: ignore[assignment]
    __getattribute__ = trap("meta.__getattribute__")  # type: ignore[assignment]
    __repr__ = trap("meta.__repr__")
    __instancecheck__ = trap("meta.__instancecheck__")
    __subclasscheck__ = trap("meta.__subclasscheck__")
    __iter__ = trap("meta.__iter__")
    __len__ = trap("meta.__len__")
    __bool__ = trap("meta.__bool__")
    __call__ = type.__call__


def hostile(*bases: type, **more: Any) -> Any:
    names = {**TRAPS, **PROPERTIES, "__hash__": object.__hash__, "__module__": "evil", **more}
    return HostileMeta("Hostile", bases, names)


def made(kind: Any, base: type, *args: Any) -> Any:
    return base.__new__(kind, *args)


def hostile_values() -> dict[str, Any]:
    table = made(hostile(dict), dict)
    dict.__init__(table, {"a": 1, "b": [2]})
    items = made(hostile(list), list)
    list.__init__(items, [1, [2]])
    group = made(hostile(set), set)
    set.__init__(group, {1})
    return {
        "object": made(hostile(), object),
        "dict": table,
        "list": items,
        "tuple": made(hostile(tuple), tuple, (1, [2])),
        "set": group,
        "frozenset": made(hostile(frozenset), frozenset, (1,)),
        "str": made(hostile(str), str, "text"),
        "int": made(hostile(int), int, 7),
        "float": made(hostile(float), float, 1.5),
        "complex": made(hostile(complex), complex, 1, 2),
        "bytes": made(hostile(bytes), bytes, b"ab"),
        "bytearray": made(hostile(bytearray), bytearray),
        "decimal": made(hostile(decimal.Decimal), decimal.Decimal, "1.50"),
        "date": made(hostile(dt.date), dt.date, 2026, 1, 2),
        "datetime": made(hostile(dt.datetime), dt.datetime, 2026, 1, 2),
        "timedelta": made(hostile(dt.timedelta), dt.timedelta, 1),
        "deque": made(hostile(collections.deque), collections.deque),
        "exception": made(hostile(ValueError), ValueError),
        "path": made(hostile(pathlib.PurePosixPath), object),
        "uuid": made(hostile(uuid.UUID), object),
        "class": hostile(),
    }


EXPECTED = {
    "object": {"$type": "evil.Hostile"},
    "dict": {"a": 1, "b": [2]},
    "list": [1, [2]],
    "tuple": [1, [2]],
    "set": {"$set": [1]},
    "frozenset": {"$set": [1]},
    "str": "text",
    "int": 7,
    "float": 1.5,
    "complex": {"$complex": "(1+2j)"},
    "bytes": {"$bytes": "YWI="},
    "bytearray": {"$bytes": ""},
    "decimal": {"$decimal": "1.50"},
    "date": "2026-01-02",
    "datetime": "2026-01-02T00:00:00",
    "timedelta": "P1D",
    "deque": [],
    "exception": {"$type": "evil.Hostile"},
    "path": {"$type": "evil.Hostile"},
    "uuid": {"$unread": "evil.Hostile"},
    "class": {"$type": f"{__name__}.HostileMeta"},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_no_code_of_a_hostile_value_runs(name: str):
    value = hostile_values()[name]
    calls.clear()

    taken = [snapshot(value), snapshot({"x": value}), snapshot([value, value])]

    assert calls == []
    assert canonical(taken[0]) == canonical(EXPECTED[name])
    assert canonical(taken[1]) == canonical({"x": EXPECTED[name]})
    assert canonical(taken[2]) == canonical([EXPECTED[name]] * 2)


@pytest.mark.parametrize("name", ["object", "str", "int", "tuple", "frozenset", "float"])
def test_no_code_of_a_hostile_key_runs(name: str):
    key = hostile_values()[name]
    value = {key: 1, "plain": 2}
    calls.clear()

    taken = snapshot(value)

    assert calls == []
    assert taken["plain"] == 2
    assert len(taken) == 2


def test_no_code_of_keys_with_equal_hashes_runs():
    class Key:
        armed = False

        def __hash__(self) -> int:
            if Key.armed:
                calls.append("hash")
            return 1

        def __eq__(self, other: object) -> bool:
            if Key.armed:
                calls.append("eq")
            return self is other

    value = {Key(): 1, Key(): 2}
    group = {Key(), Key()}
    calls.clear()
    Key.armed = True

    taken = snapshot([value, group])

    assert calls == []
    assert list(taken[0].values()) == [1, 2]
    assert len(taken[1]["$set"]) == 2


def test_no_code_of_a_time_zone_runs():
    class Zone(dt.tzinfo):
        utcoffset = trap("utcoffset")
        dst = trap("dst")
        tzname = trap("tzname")

    calls.clear()

    taken = snapshot([dt.datetime(2026, 1, 2, tzinfo=Zone()), dt.time(1, tzinfo=Zone())])

    assert calls == []
    assert taken[0]["$datetime"].startswith("2026-01-02T00:00:00 ")
    assert taken[1]["$time"].endswith("Zone")


def test_no_property_or_descriptor_of_a_model_runs():
    class Model(pydantic.BaseModel):
        x: int

        @property
        def y(self) -> int:
            calls.append("y")
            raise Ran

        @pydantic.computed_field  # type: ignore[prop-decorator]
        @property
        def z(self) -> int:
            calls.append("z")
            raise Ran

        @pydantic.model_serializer
        def serialize(self) -> Any:
            calls.append("serialize")
            raise Ran

    model = Model(x=1)
    calls.clear()

    assert snapshot(model) == {"x": 1}
    assert calls == []


def test_no_descriptor_in_a_dataclass_runs():
    class Descriptor:
        def __get__(self, *_: Any) -> Any:
            calls.append("get")
            raise Ran

    @dataclasses.dataclass
    class Odd:
        x: int

    odd = Odd(1)
    Odd.x = Descriptor()  # type: ignore[assignment]
    Odd.__dict__["__dataclass_fields__"]["never"] = Descriptor()
    calls.clear()

    assert snapshot(odd) == {"x": 1}
    assert calls == []


def test_names_that_are_no_text_are_a_question_mark():
    class Odd:
        pass

    Odd.__module__ = Text("odd")
    Odd.__qualname__ = Text("Name")

    assert snapshot(Odd()) == {"$type": "?.?"}


def test_an_object_that_loses_its_fields_is_what_it_has():
    order = Order("A")
    del order.order_id
    broken = Point.model_construct()

    assert snapshot(order) == {"lines": []}
    assert snapshot(broken).keys() <= {"label", "secret"}


def test_modules_in_disguise_are_not_taken_for_numpy_or_pydantic(monkeypatch):
    class Fake(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            raise Ran(name)

    for name in ("numpy", "pydantic.main", "pydantic.root_model", "zoneinfo"):
        monkeypatch.setitem(sys.modules, name, Fake(name))
    calls.clear()

    class Thing:
        pass

    assert snapshot([Thing(), AWARE])[1] == "2026-11-30T12:00:01.000005+00:00"
    assert calls == []


def test_a_table_that_another_thread_changes_is_copied_or_marked():
    table: dict[str, Any] = {}
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            table[f"k{number % 50}"] = [number]
            table.pop(f"k{(number * 7) % 50}", None)
            number += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        taken = [snapshot({"t": table, "u": [table]}) for _ in range(300)]
    finally:
        stop.set()
        thread.join()

    assert all(set(one) == {"t", "u"} for one in taken)


def test_a_class_made_at_run_time_can_go():
    def make() -> weakref.ref[type]:
        @dataclasses.dataclass
        class Local:
            x: int

        assert snapshot(Local(1)) == {"x": 1}
        return weakref.ref(Local)

    gone = make()
    gc.collect()

    assert gone() is None


def test_every_mark_that_is_made_is_in_the_table():
    values = [value for value, _ in KINDS]
    values += [1 << 400_000, "x" * 2**21, hostile_values()["uuid"]]
    items: list[Any] = []
    items.append(items)
    found: set[str] = set()

    def look(pairs: list[tuple[str, Any]]) -> None:
        found.update(key for key, _ in pairs if key.startswith("$"))

    json.loads(dump_json(snapshot([*values, items])), object_pairs_hook=look)

    assert found <= set(MARKS)
    assert set(MARKS) - found == {"$datetime", "$time"}


def test_a_common_argument_object_takes_a_few_steps_a_value():
    value = {"order_id": "A-104", "amount_cents": 9800, "currency": "USD", "note": None, "r": 1.5}
    snapshot(value)

    assert steps(lambda: snapshot(value)) < 100
