from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.contracts._pointers import PointerTree

pointers = st.lists(st.sampled_from(["a", "b", "~0", "", "0"]), max_size=4).map(
    lambda parts: "".join(f"/{part}" for part in parts)
)


@given(st.sets(pointers, max_size=8), pointers)
def test_a_pointer_lies_inside_those_that_begin_it_at_a_slash(known, pointer):
    around = [one for one in known if pointer.startswith(f"{one}/")]

    assert PointerTree(known).around(pointer) == sorted(around, key=len)
