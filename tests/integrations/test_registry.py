"""Turning hooks on and off, on the real library."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from openai import _base_client, _streaming

from agenttrace.capture import hooks
from agenttrace.demo._provider import ScriptedCall, Turn
from agenttrace.errors import ConfigurationError, MissingExtraError
from agenttrace.integrations import _registry, instrument, instrumented, supported, uninstrument
from tests.support.handed import Handed
from tests.support.openai_clients import MESSAGES, client_of

HOOKED: list[tuple[type, str]] = [
    (_base_client.BaseClient, "_build_request"),
    (_base_client.BaseClient, "_process_response_data"),
    (_base_client.SyncAPIClient, "request"),
    (_base_client.AsyncAPIClient, "request"),
    (_streaming.Stream, "__stream__"),
    (_streaming.AsyncStream, "__stream__"),
]
CALL = Turn(calls=(ScriptedCall(name="pay"),))


def standing() -> list[Any]:
    return [vars(owner)[name] for owner, name in HOOKED]


@pytest.fixture(autouse=True)
def _strict_and_clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    uninstrument()
    yield
    uninstrument()


def ask(client: openai.OpenAI) -> None:
    client.chat.completions.create(model="m", messages=MESSAGES)


def test_taking_hooks_out_leaves_the_very_same_objects():
    before = standing()
    instrument("openai")
    between = standing()
    uninstrument("openai")

    assert all(now is then for now, then in zip(standing(), before, strict=True))
    assert all(now is not then for now, then in zip(between, before, strict=True))


def test_instrumenting_twice_changes_nothing():
    instrument("openai")
    first = standing()

    assert instrument() == instrument("openai") == instrumented() == ("openai",)
    assert all(now is then for now, then in zip(standing(), first, strict=True))


def test_hooks_go_in_once_when_many_threads_ask():
    before = standing()
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: instrument("openai"), range(64)))

    assert set(results) == {("openai",)}
    assert all(now.__wrapped__ is then for now, then in zip(standing(), before, strict=True))


def test_clients_and_bound_methods_made_before_are_recorded(handed: Handed):
    uninstrument()
    with client_of([CALL]) as client:
        create = client.chat.completions.create
        instrument("openai")
        create(model="m", messages=MESSAGES)

    assert handed.call.name == "pay"


def test_nothing_is_recorded_after_hooks_are_out(handed: Handed):
    with client_of([CALL]) as client:
        uninstrument()
        ask(client)

    assert (handed.requests, handed.responses) == ([], [])


@pytest.mark.parametrize("names_what_it_wraps", [True, False])
def test_somebody_elses_patch_on_top_stays_and_ours_comes_back_once(
    names_what_it_wraps: bool, handed: Handed, monkeypatch: pytest.MonkeyPatch
):
    ours = _base_client.BaseClient._process_response_data
    seen = []

    def theirs(self: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["data"]["id"])
        return ours(self, **kwargs)

    if names_what_it_wraps:
        functools.update_wrapper(theirs, ours)
    monkeypatch.setattr(_base_client.BaseClient, "_process_response_data", theirs)
    with client_of([CALL, CALL]) as client:
        uninstrument()
        assert vars(_base_client.BaseClient)["_process_response_data"] is theirs
        ask(client)
        assert handed.responses == []
        instrument("openai")
        ask(client)

    assert (len(seen), len(handed.responses)) == (2, 1)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'opennai'.*Known are: openai"):
        instrument("openai", "opennai")

    assert instrumented() == ()


def test_a_missing_library_is_refused_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_registry, "_is_installed", lambda _: False)

    assert instrument() == ()
    with pytest.raises(MissingExtraError, match=r"agenttrace-otel\[openai\]"):
        instrument("openai")


def test_a_version_that_is_too_old_is_not_hooked_and_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_registry, "_installed_version", lambda _: "1.99.0")
    before = standing()

    assert instrument("openai") == ()
    assert standing() == before
    assert [(hook.ok, hook.detail) for hook in hooks()] == [
        (False, "openai 1.99.0 is older than >=2,<4")
    ]


def test_a_newer_version_is_hooked_where_it_fits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_registry, "_installed_version", lambda _: "9.0")

    assert instrument("openai") == ("openai",)
    assert supported()[0].in_range is False
    assert all(hook.ok for hook in hooks())


def moved(self: Any, *, payload: object, cast_to: object, response: object) -> object:
    return payload


@pytest.mark.parametrize(
    ("replacement", "detail"),
    [(moved, "it takes no data"), (None, "BaseClient has no method _process_response_data")],
)
def test_a_hook_that_no_longer_fits_is_left_out_and_reported(
    replacement: Callable[..., object] | None, detail: str, monkeypatch: pytest.MonkeyPatch
):
    if replacement is None:
        monkeypatch.delattr(_base_client.BaseClient, "_process_response_data")
    else:
        monkeypatch.setattr(_base_client.BaseClient, "_process_response_data", replacement)

    assert instrument("openai") == ("openai",)
    found = {hook.hook: hook for hook in hooks()}
    assert found["BaseClient._process_response_data"].ok is False
    assert found["BaseClient._process_response_data"].detail.startswith(detail)
    assert found["BaseClient._build_request"].ok is True
    assert vars(_base_client.BaseClient).get("_process_response_data") is replacement
    (row,) = supported()
    assert [h.hook for h in row.hooks if not h.fits] == ["BaseClient._process_response_data"]


def test_supported_says_what_is_there():
    (row,) = supported()

    assert (row.library, row.extra, row.versions) == ("openai", "openai", ">=2,<4")
    assert (row.installed, row.in_range, row.instrumented) == (openai.__version__, True, False)
    assert all(hook.fits for hook in row.hooks)
    assert len(row.hooks) == len(HOOKED)


BEFORE_IMPORT = """
import sys
from agenttrace.integrations import instrument, uninstrument
from agenttrace.capture import hooks
assert instrument() == ("openai",)
assert not [m for m in sys.modules if m.partition(".")[0] == "openai"], "was imported"
assert hooks() == ()
{more}
import openai
print(len(hooks()), all(h.ok for h in hooks()))
print(hasattr(openai._base_client.BaseClient._build_request, "__wrapped__"))
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", ["6 True", "True"]),
        ("uninstrument()", ["0 True", "False"]),
        ("uninstrument(); instrument('openai')", ["6 True", "True"]),
    ],
)
def test_a_library_is_hooked_at_the_moment_it_is_imported(more: str, said: list[str]):
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_IMPORT.format(more=more)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.splitlines()) == (0, said), done.stderr
