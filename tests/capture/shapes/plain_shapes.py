"""Callables that do their work at one go."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload
from unittest import mock

from tests.capture.shapes.shape import Decorator, Job, Table

table = Table()
shape = table.shape
T = TypeVar("T")


# Functions


@shape()
def function(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job) -> object:
        return job.act()

    return tool


@shape()
def function_called_by_keyword(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job) -> object:
        return job.act()

    return lambda job: tool(job=job)


@shape()
def lambda_(decorate: Decorator) -> Any:
    return decorate(lambda job: job.act())


@shape()
def closure(decorate: Decorator) -> Any:
    seen: list[Job] = []

    @decorate
    def tool(job: Job) -> object:
        seen.append(job)
        return seen[-1].act()

    return tool


@shape("job", "depth", count=5)
def recursive(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job, depth: int = 4) -> object:
        return tool(job, depth - 1) if depth else job.act()

    return tool


@shape()
def without_source(decorate: Decorator) -> Any:
    names: dict[str, Any] = {}
    exec("def tool(job): return job.act()", names)
    return decorate(names["tool"])


@shape()
def generic(decorate: Decorator) -> Any:
    @decorate
    def tool(job: T) -> T:
        return job.act()  # type: ignore[attr-defined,no-any-return]

    return tool


@shape()
def overloaded(decorate: Decorator) -> Any:
    @overload
    def tool(job: Job) -> object: ...
    @overload
    def tool(job: None) -> None: ...
    @decorate
    def tool(job: Any) -> Any:
        return job.act()

    return tool


@shape()
def decorated_twice(decorate: Decorator) -> Any:
    @decorate
    @decorate
    def tool(job: Job) -> object:
        return job.act()

    return tool


@shape(count=2)
def decorated_above_and_below_another(decorate: Decorator) -> Any:
    @decorate
    @passing
    @decorate
    def tool(job: Job) -> object:
        return job.act()

    return tool


# Parameters

RESERVED = ("name", "self", "cls", "args", "kwargs", "wrapped", "instance", "tool", "execution")


@shape("job", *RESERVED)
def parameters_called_as_ours(decorate: Decorator) -> Any:
    @decorate
    def tool(
        job: Job,
        *,
        name: int,
        self: int,
        cls: int,
        args: int,
        kwargs: int,
        wrapped: int,
        instance: int,
        tool: int,
        execution: int,
    ) -> object:
        assert (name, self, cls, args, kwargs, wrapped, instance, tool, execution) == tuple(
            range(9)
        )
        return job.act()

    return lambda job: tool(job=job, **{name: place for place, name in enumerate(RESERVED)})


@shape("job", *RESERVED)
def further_keywords_called_as_ours(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job, /, **more: object) -> object:
        assert set(more) == set(RESERVED)
        return job.act()

    return lambda job: tool(job, **dict.fromkeys(RESERVED, 1))


@shape("self", "job")
def function_whose_first_parameter_is_called_self(decorate: Decorator) -> Any:
    @decorate
    def tool(self: int, job: Job) -> object:
        assert self == 5
        return job.act()

    return lambda job: tool(5, job)


@shape("job", "**job")
def positional_only(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job, /, **more: object) -> object:
        assert more == {"job": 3}
        return job.act()

    more = {"job": 3}
    return lambda job: tool(job, **more)


@shape("job", "limit")
def keyword_only(decorate: Decorator) -> Any:
    @decorate
    def tool(*, job: Job, limit: int = 3) -> object:
        assert limit == 3
        return job.act()

    return lambda job: tool(job=job)


@shape("given", "key")
def any_arguments(decorate: Decorator) -> Any:
    @decorate
    def tool(*given: Any, **more: Any) -> object:
        assert more == {"key": 1}
        return given[0].act()

    return lambda job: tool(job, 2, key=1)


@shape("job", "seen")
def mutable_default(decorate: Decorator) -> Any:
    @decorate
    def tool(job: Job, seen: list[int] = []) -> object:  # noqa: B006
        seen.append(len(seen))
        assert seen == list(range(len(seen)))
        return job.act()

    def twice(job: Job) -> object:
        result = tool(job)
        assert tool.__defaults__ == ([0],)
        return result

    return twice


# Methods


class Desk:
    """What the methods here belong to."""


@shape()
def method(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            assert type(self) is Own
            return job.act()

    return Own().tool


@shape()
def method_taken_from_its_class(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            assert type(self) is Own
            return job.act()

    return lambda job: Own.tool(Own(), job)


@shape()
def method_with_its_object_by_keyword(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            assert type(self) is Own
            return job.act()

    return lambda job: Own.tool(self=Own(), job=job)


@shape("other")
def function_in_a_class_that_is_no_method(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(other: Job) -> object:  # type: ignore[misc]  # noqa: N805
            return other.act()

    return Own.tool


def classmethods(above: bool, on_class: bool) -> Callable[[Decorator], Any]:
    def make(decorate: Decorator) -> Any:
        def tool(cls: type, job: Job) -> object:
            assert cls is Own
            return job.act()

        made = decorate(classmethod(tool)) if above else classmethod(decorate(tool))
        Own = type("Own", (Desk,), {"tool": made})  # noqa: N806
        return Own.tool if on_class else Own().tool  # type: ignore[attr-defined]

    make.__name__ = (
        f"{'above' if above else 'below'}_classmethod_on_{'class' if on_class else 'object'}"
    )
    return make


def staticmethods(above: bool, on_class: bool) -> Callable[[Decorator], Any]:
    def make(decorate: Decorator) -> Any:
        def tool(job: Job) -> object:
            return job.act()

        made = decorate(staticmethod(tool)) if above else staticmethod(decorate(tool))
        Own = type("Own", (Desk,), {"tool": made})  # noqa: N806
        return Own.tool if on_class else Own().tool  # type: ignore[attr-defined]

    make.__name__ = (
        f"{'above' if above else 'below'}_staticmethod_on_{'class' if on_class else 'object'}"
    )
    return make


for above in (True, False):
    for on_class in (True, False):
        shape()(classmethods(above, on_class))
        shape()(staticmethods(above, on_class))


@shape()
def above_a_classmethod_of_another_kind(decorate: Decorator) -> Any:
    class Special(classmethod):  # type: ignore[type-arg]
        pass

    class Own(Desk):
        @decorate
        @Special
        def tool(cls, job: Job) -> object:  # noqa: N805
            assert cls is Own
            return job.act()

    return Own().tool


@shape()
def classmethod_decorated_twice(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @classmethod
        @decorate
        def tool(cls, job: Job) -> object:
            return job.act()

    return Own.tool


@shape("-")
def below_property(decorate: Decorator) -> Any:
    class Own(Desk):
        def __init__(self, job: Job) -> None:
            self.job = job

        @property
        @decorate
        def tool(self) -> object:
            return self.job.act()

    return lambda job: Own(job).tool


@shape("-")
def below_cached_property(decorate: Decorator) -> Any:
    class Own(Desk):
        def __init__(self, job: Job) -> None:
            self.job = job

        @functools.cached_property
        @decorate
        def tool(self) -> object:
            return self.job.act()

    def twice(job: Job) -> object:
        own = Own(job)
        assert own.tool is own.tool
        return own.tool

    return twice


@shape(count=2)
def overriding_with_super(decorate: Decorator) -> Any:
    class Base(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    class Own(Base):
        @decorate
        def tool(self, job: Job) -> object:
            return super().tool(job)

    return Own().tool


@shape()
def inherited(decorate: Decorator) -> Any:
    class Base(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            assert type(self) is Own
            return job.act()

    class Own(Base):
        pass

    return Own().tool


@shape()
def abstract_and_made_real(decorate: Decorator) -> Any:
    class Base(abc.ABC):
        @decorate
        @abc.abstractmethod
        def tool(self, job: Job) -> object: ...

        @abc.abstractmethod
        @decorate
        def other(self) -> None: ...

    assert Base.__abstractmethods__ == {"tool", "other"}

    class Own(Base):
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

        def other(self) -> None: ...

    return Own().tool


@shape()
def of_a_protocol(decorate: Decorator) -> Any:
    class Tool(Protocol):
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    class Own(Tool):
        pass

    return Own().tool


@shape()
def of_a_generic_class(decorate: Decorator) -> Any:
    class Own(Generic[T]):
        @decorate
        def tool(self, job: T) -> object:
            return job.act()  # type: ignore[attr-defined]

    return Own[Job]().tool


@shape()
def of_a_dataclass(decorate: Decorator) -> Any:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Own:
        amount: int = 3

        @decorate
        def tool(self, job: Job) -> object:
            assert self.amount == 3
            return job.act()

    assert [f.name for f in dataclasses.fields(Own)] == ["amount"]
    return Own().tool


@shape()
def of_slots(decorate: Decorator) -> Any:
    class Own:
        __slots__ = ("__weakref__",)

        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    return Own().tool


@shape()
def of_an_enum(decorate: Decorator) -> Any:
    class Own(enum.Enum):
        ONE = 1

        @decorate
        def tool(self, job: Job) -> object:
            assert self is Own.ONE
            return job.act()

    assert list(Own.__members__) == ["ONE"]
    return Own.ONE.tool


@shape()
def of_a_named_tuple(decorate: Decorator) -> Any:
    class Own(NamedTuple):
        amount: int

        @decorate
        def tool(self, job: Job) -> object:
            assert self.amount == 3
            return job.act()

    return Own(3).tool


@shape()
def of_a_metaclass(decorate: Decorator) -> Any:
    class Meta(type):
        @decorate
        def tool(cls, job: Job) -> object:
            assert cls is Own
            return job.act()

    class Own(metaclass=Meta):
        pass

    return Own.tool


@shape()
def call_of_a_metaclass(decorate: Decorator) -> Any:
    class Meta(type):
        @decorate
        def __call__(cls, job: Job) -> object:
            return job.act()

    class Own(metaclass=Meta):
        pass

    return Own


@shape()
def init_subclass(decorate: Decorator) -> Any:
    class Base:
        @decorate
        def __init_subclass__(cls, job: Job) -> None:
            cls.value = job.act()  # type: ignore[attr-defined]

    return lambda job: type("Own", (Base,), {}, job=job).value  # type: ignore[attr-defined,call-overload]


@shape()
def class_getitem(decorate: Decorator) -> Any:
    class Own:
        @decorate
        def __class_getitem__(cls, job: Job) -> object:
            assert cls is Own
            return job.act()

    return lambda job: Own[job]  # type: ignore[valid-type,misc]


@shape()
def new(decorate: Decorator) -> Any:
    class Own:
        @decorate
        def __new__(cls, job: Job) -> object:  # type: ignore[misc]
            assert cls is Own
            return job.act()

    return Own


@shape()
def init(decorate: Decorator) -> Any:
    class Own:
        @decorate
        def __init__(self, job: Job) -> None:
            self.value = job.act()

    return lambda job: Own(job).value


@shape()
def set_on_the_class_later(decorate: Decorator) -> Any:
    class Own:
        pass

    @decorate
    def tool(self: object, job: Job) -> object:
        assert type(self) is Own
        return job.act()

    Own.tool = tool  # type: ignore[attr-defined]
    return Own().tool  # type: ignore[attr-defined]


@shape()
def set_on_the_object(decorate: Decorator) -> Any:
    own = Desk()
    own.tool = decorate(lambda job: job.act())  # type: ignore[attr-defined]
    return own.tool  # type: ignore[attr-defined]


@shape()
def bound_by_hand(decorate: Decorator) -> Any:
    @decorate
    def tool(this: object, job: Job) -> object:
        return job.act()

    return tool.__get__(Desk(), Desk)


@shape()
def bound_and_decorated_then(decorate: Decorator) -> Any:
    class Own(Desk):
        def tool(self, job: Job) -> object:
            return job.act()

    return decorate(Own().tool)


@shape()
def decorated_bound_and_decorated_again(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    return decorate(Own().tool)


@shape()
def kept_in_a_dict(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def tool(self, job: Job) -> object:
            return job.act()

    own = Own()
    tools = {own.tool: "tool", "tool": own.tool}
    assert tools[own.tool] == "tool"
    return tools["tool"]


# Objects and classes


class Acting:
    def __call__(self, job: Job) -> object:
        return job.act()


@shape()
def callable_object(decorate: Decorator) -> Any:
    return decorate(Acting())


@shape()
def callable_object_in_a_class(decorate: Decorator) -> Any:
    class Own(Desk):
        tool = decorate(Acting())

    return Own().tool


@shape()
def call_of_a_class(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def __call__(self, job: Job) -> object:
            return job.act()

    return Own()


@shape("args")
def mock_object(decorate: Decorator) -> Any:
    return decorate(mock.Mock(side_effect=lambda job: job.act()))


@shape()
def class_as_a_tool(decorate: Decorator) -> Any:
    class Own(Desk):
        def __init__(self, job: Job) -> None:
            self.value = job.act()

    made = decorate(Own)
    return lambda job: made(job).value


# functools and C


@shape()
def above_partial(decorate: Decorator) -> Any:
    return decorate(functools.partial(lambda first, job: job.act(), 1))


@shape("first", "job")
def below_partial(decorate: Decorator) -> Any:
    return functools.partial(decorate(lambda first, job: job.act()), 1)


@shape("first", "job")
def above_partialmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        def both(self, first: int, job: Job) -> object:
            return job.act()

        tool = decorate(functools.partialmethod(both, 1))

    return Own().tool


@shape("first", "job")
def below_partialmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        def both(self, first: int, job: Job) -> object:
            return job.act()

        tool = functools.partialmethod(both, 1)

    return Own().tool


@shape()
def above_lru_cache(decorate: Decorator) -> Any:
    tool = decorate(functools.lru_cache(lambda job: job.act()))
    assert tool.cache_info().hits == 0
    return tool


@shape()
def below_lru_cache(decorate: Decorator) -> Any:
    tool = functools.lru_cache(decorate(lambda job: job.act()))

    def twice(job: Job) -> object:
        assert tool(job) is tool(job)
        return tool(job)

    return twice


@shape()
def method_above_lru_cache(decorate: Decorator) -> Any:
    class Own(Desk):
        @decorate
        @functools.lru_cache  # noqa: B019
        def tool(self, job: Job) -> object:
            return job.act()

    return Own().tool


@shape()
def above_singledispatch(decorate: Decorator) -> Any:
    @decorate
    @functools.singledispatch
    def tool(job: object) -> object:
        raise AssertionError(job)

    @tool.register
    def _(job: Job) -> object:
        return job.act()

    return tool


@shape()
def below_singledispatch(decorate: Decorator) -> Any:
    @functools.singledispatch
    def tool(job: object) -> object:
        raise AssertionError(job)

    @tool.register
    @decorate
    def _(job: Job) -> object:
        return job.act()

    return tool


@shape()
def below_singledispatchmethod(decorate: Decorator) -> Any:
    class Own(Desk):
        @functools.singledispatchmethod
        def tool(self, job: object) -> object:
            raise AssertionError(job)

        @tool.register
        @decorate
        def _(self, job: Job) -> object:
            return job.act()

    return Own().tool


def passing(inner: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    return outer


@shape()
def above_wraps(decorate: Decorator) -> Any:
    return decorate(passing(lambda job: job.act()))


@shape()
def below_wraps(decorate: Decorator) -> Any:
    return passing(decorate(lambda job: job.act()))


@shape()
def below_a_context_manager_as_a_decorator(decorate: Decorator) -> Any:
    @contextlib.contextmanager
    def around() -> Iterator[None]:
        yield

    @around()
    @decorate
    def tool(job: Job) -> object:
        return job.act()

    return tool


@shape()
def above_a_context_manager_as_a_decorator(decorate: Decorator) -> Any:
    @contextlib.contextmanager
    def around() -> Iterator[None]:
        yield

    @decorate
    @around()
    def tool(job: Job) -> object:
        return job.act()

    return tool


@shape("obj" if sys.version_info >= (3, 13) else "args")
def c_function(decorate: Decorator) -> Any:
    return decorate(operator.methodcaller("act"))


@shape("obj")
def builtin_function(decorate: Decorator) -> Any:
    return decorate(operator.call)


@shape("-")
def slot_of_an_iterator(decorate: Decorator) -> Any:
    return lambda job: decorate(map(Job.act, [job]).__next__)()
