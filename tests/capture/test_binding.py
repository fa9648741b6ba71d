"""Binding by hand gives what Python itself would bind."""

from __future__ import annotations

import inspect
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.capture._binding import binder_of


def plain(a, b=2): ...
def keyword_only(a, *, b, c=3): ...
def positional_only(a, b=2, /, c=3, *, d=4): ...
def rest(a, b=2, *more, c=3): ...
def keywords(a, b=2, **extra): ...
def everything(a, /, b, *more, c=3, **extra): ...
def nothing(): ...


FUNCTIONS = (plain, keyword_only, positional_only, rest, keywords, everything, nothing)
calls = st.tuples(
    st.sampled_from(FUNCTIONS),
    st.lists(st.integers(), max_size=4).map(tuple),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d", "z"]), st.integers(), max_size=4),
)


def as_python_binds(function: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    out: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = inspect.signature(function).parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            out.update({name: list(value)} if value else {})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            for key, item in value.items():
                out[f"**{key}" if key in bound.arguments else key] = item
        else:
            out[name] = value
    return out


@given(calls)
def test_a_call_is_bound_as_python_binds_it(call):
    function, args, kwargs = call
    binder = binder_of(function, 0)
    assert binder is not None

    bound = binder.bind(args, kwargs)

    assert (None if bound is None else bound[0]) == as_python_binds(function, args, kwargs)


@given(calls)
def test_the_defaults_are_exactly_what_the_caller_left_out(call):
    function, args, kwargs = call
    binder = binder_of(function, 0)
    assert binder is not None
    bound = binder.bind(args, kwargs)
    if bound is None:
        return

    given_names = set(inspect.signature(function).bind(*args, **kwargs).arguments) | set(kwargs)

    named = {
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    assert set(bound[1]) == named - given_names
