"""Methods under a wrapper, and back."""

from __future__ import annotations

import inspect
from typing import Any

from agenttrace.integrations._patching import Patch, check_method, patch_of


def passing(log: list[str]) -> Any:
    def wrapper(wrapped: Any, args: Any, kwargs: Any) -> Any:
        log.append(type(args[0]).__name__)
        return wrapped(*args, **kwargs)

    return wrapper


def make() -> type:
    class Client:
        def send(self, body: str, *, retries: int = 0) -> tuple[str, int]:
            return body, retries

    return Client


def test_a_patched_method_keeps_its_signature_and_result():
    owner, log = make(), []
    before = inspect.signature(owner.send)
    Patch(owner, "send", passing(log)).install()

    assert inspect.signature(owner.send) == before
    assert owner().send("x", retries=2) == ("x", 2)
    assert owner.send(owner(), "y") == ("y", 0)
    assert log == ["Client", "Client"]


async def test_a_patched_coroutine_function_stays_one():
    class Client:
        async def send(self, body: str) -> str:
            return body

    async def wrapper(wrapped: Any, args: Any, kwargs: Any) -> Any:
        return await wrapped(*args, **kwargs)

    patch = Patch(Client, "send", wrapper)
    patch.install()

    assert inspect.iscoroutinefunction(Client.send)
    assert await Client().send("x") == "x"
    patch.is_on = False
    assert await Client().send("x") == "x"


def test_a_patch_below_another_one_goes_to_sleep_and_wakes_up():
    owner, log = make(), []
    patch = patch_of(owner, "Client.send", passing(log))
    patch.install()
    other = Patch(owner, "send", passing([]))
    other.install()

    assert patch.remove() is False
    assert owner().send("x") == ("x", 0)
    assert log == []
    patch_of(owner, "Client.send", passing(log)).install()
    assert owner().send("x") == ("x", 0)
    assert log == ["Client"]


def test_a_method_replaced_by_somebody_in_the_meantime_is_patched_anew():
    owner, log = make(), []
    patch = patch_of(owner, "Client.send", passing(log))
    patch.install()
    patch.remove()
    owner.send = lambda self, body: body  # type: ignore[attr-defined]
    again = patch_of(owner, "Client.send", passing(log))
    again.install()

    assert again is not patch
    assert owner().send("x") == "x"
    assert log == ["Client"]


def test_a_method_that_is_gone_inherited_or_changed_does_not_fit():
    owner = make()
    child = type("Child", (owner,), {})

    assert check_method(owner, "Client.send", ("body", "retries")).fits
    assert check_method(None, "Client.send", ()).detail == "there is no class Client"
    assert "no method send of its own" in check_method(child, "Child.send", ()).detail
    assert check_method(owner, "Client.send", ("data",)).detail == "it takes no data"
