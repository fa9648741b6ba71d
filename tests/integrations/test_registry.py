"""Turning hooks on and off, on the real library."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pytest

from agenttrace.capture import hooks
from agenttrace.demo._provider import ScriptedCall, ScriptedProvider, Turn
from agenttrace.errors import ConfigurationError, MissingExtraError
from agenttrace.integrations import _registry, instrument, instrumented, supported, uninstrument
from tests.support.handed import Handed
from tests.support.sdk_clients import SYNC_WHOLE, Way

LIBRARIES = ("anthropic", "openai")
RANGES = {"anthropic": ">=2,<3", "openai": ">=2,<4"}
CALL = Turn(calls=(ScriptedCall(name="pay"),))

each_library = pytest.mark.parametrize("library", LIBRARIES)


def way_of(library: str) -> Way:
    return next(way for way in SYNC_WHOLE if way.library == library)


def base_client(library: str) -> Any:
    return import_module(f"{library}._base_client")


def hooked(library: str) -> list[tuple[type, str]]:
    client, streaming = base_client(library), import_module(f"{library}._streaming")
    return [
        (client.BaseClient, "_build_request"),
        (client.BaseClient, "_process_response_data"),
        (client.SyncAPIClient, "request"),
        (client.AsyncAPIClient, "request"),
        (streaming.Stream, "__stream__"),
        (streaming.AsyncStream, "__stream__"),
    ]


def standing(*libraries: str) -> list[Any]:
    places = [place for library in libraries or LIBRARIES for place in hooked(library)]
    return [vars(owner)[name] for owner, name in places]


@pytest.fixture(autouse=True)
def _strict_and_clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGENTTRACE_STRICT", "1")
    uninstrument()
    yield
    uninstrument()


def test_taking_hooks_out_leaves_the_very_same_objects():
    before = standing()
    instrument()
    between = standing()
    uninstrument()

    assert all(now is then for now, then in zip(standing(), before, strict=True))
    assert all(now is not then for now, then in zip(between, before, strict=True))


@each_library
def test_one_library_is_hooked_without_the_other(library: str):
    (other,) = set(LIBRARIES) - {library}
    before = standing(other)
    instrument(library)

    assert instrumented() == (library,)
    assert all(now is then for now, then in zip(standing(other), before, strict=True))


def test_instrumenting_twice_changes_nothing():
    instrument()
    first = standing()

    assert instrument() == instrument("openai") == instrumented() == LIBRARIES
    assert all(now is then for now, then in zip(standing(), first, strict=True))


def test_hooks_go_in_once_when_many_threads_ask():
    before = standing()
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: instrument(), range(64)))

    assert set(results) == {LIBRARIES}
    assert all(now.__wrapped__ is then for now, then in zip(standing(), before, strict=True))


@each_library
def test_clients_and_bound_methods_made_before_are_recorded(library: str, handed: Handed):
    uninstrument()
    way = way_of(library)
    with ScriptedProvider([CALL]) as provider, way.client(provider) as client:
        create = way.create(client)
        instrument(library)
        create(**way.options({}))

    assert handed.call.name == "pay"


@each_library
def test_nothing_is_recorded_after_hooks_are_out(library: str, handed: Handed):
    way = way_of(library)
    with ScriptedProvider([CALL]) as provider, way.client(provider) as client:
        uninstrument()
        way.create(client)(**way.options({}))

    assert (handed.requests, handed.responses) == ([], [])


@each_library
@pytest.mark.parametrize("names_what_it_wraps", [True, False])
def test_somebody_elses_patch_on_top_stays_and_ours_comes_back_once(
    names_what_it_wraps: bool, library: str, handed: Handed, monkeypatch: pytest.MonkeyPatch
):
    owner = base_client(library).BaseClient
    ours = owner._process_response_data
    seen = []

    def theirs(self: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["data"]["id"])
        return ours(self, **kwargs)

    if names_what_it_wraps:
        functools.update_wrapper(theirs, ours)
    monkeypatch.setattr(owner, "_process_response_data", theirs)
    way = way_of(library)
    with ScriptedProvider([CALL, CALL]) as provider:
        uninstrument()
        assert vars(owner)["_process_response_data"] is theirs
        way.ask(provider)
        assert handed.responses == []
        instrument(library)
        way.ask(provider)

    assert (len(seen), len(handed.responses)) == (2, 1)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'opennai'.*Known are: anthropic, openai"):
        instrument("openai", "opennai")

    assert instrumented() == ()


@each_library
def test_a_missing_library_is_refused_only_when_it_is_named(
    library: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_registry, "_is_installed", lambda _: False)

    assert instrument() == ()
    with pytest.raises(MissingExtraError, match=rf"agenttrace-otel\[{library}\]"):
        instrument(library)


@each_library
def test_a_version_that_is_too_old_is_not_hooked_and_reported(
    library: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_registry, "_installed_version", lambda _: "1.99.0")
    before = standing()

    assert instrument(library) == ()
    assert standing() == before
    assert [(hook.ok, hook.detail) for hook in hooks()] == [
        (False, f"{library} 1.99.0 is older than {RANGES[library]}")
    ]


@each_library
def test_a_newer_version_is_hooked_where_it_fits(library: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_registry, "_installed_version", lambda _: "9.0")

    assert instrument(library) == (library,)
    assert {row.in_range for row in supported()} == {False}
    assert all(hook.ok for hook in hooks())


def moved(self: Any, *, payload: object, cast_to: object, response: object) -> object:
    return payload


@each_library
@pytest.mark.parametrize(
    ("replacement", "detail"),
    [(moved, "it takes no data"), (None, "BaseClient has no method _process_response_data")],
)
def test_a_hook_that_no_longer_fits_is_left_out_and_reported(
    replacement: Callable[..., object] | None,
    detail: str,
    library: str,
    monkeypatch: pytest.MonkeyPatch,
):
    owner = base_client(library).BaseClient
    if replacement is None:
        monkeypatch.delattr(owner, "_process_response_data")
    else:
        monkeypatch.setattr(owner, "_process_response_data", replacement)

    assert instrument(library) == (library,)
    found = {hook.hook: hook for hook in hooks()}
    assert found["BaseClient._process_response_data"].ok is False
    assert found["BaseClient._process_response_data"].detail.startswith(detail)
    assert found["BaseClient._build_request"].ok is True
    assert vars(owner).get("_process_response_data") is replacement
    (row,) = [row for row in supported() if row.library == library]
    assert [h.hook for h in row.hooks if not h.fits] == ["BaseClient._process_response_data"]


@each_library
def test_requests_are_still_stamped_where_a_calls_ends_are_not_seen(
    library: str, handed: Handed, monkeypatch: pytest.MonkeyPatch
):
    uninstrument()
    monkeypatch.setattr(
        _registry.INTEGRATIONS[library].instrument.__self__,  # type: ignore[attr-defined]
        "_owners",
        lambda: without_ends(library),
    )
    instrument(library)
    with ScriptedProvider([CALL]) as provider:
        way_of(library).ask(provider)

    assert handed.call.name == "pay"
    assert handed.stamps == handed.requests


def without_ends(library: str) -> Iterator[Any]:
    """The hooks with those gone that say where a request ends."""
    hooks_of = _registry.INTEGRATIONS[library].instrument.__self__  # type: ignore[attr-defined]
    for owner, hook, names, wrapper in type(hooks_of)._owners(hooks_of):
        yield (None if hook.endswith(".request") else owner), hook, names, wrapper


def test_supported_says_what_is_there():
    rows = [row for row in supported() if row.extra is not None]

    assert {row.library: row.versions for row in rows} == RANGES
    for row in rows:
        assert (row.extra, row.installed) == (row.library, version(row.library))
        assert (row.in_range, row.instrumented) == (True, False)
        assert all(hook.fits for hook in row.hooks)
        assert len(row.hooks) == len(hooked(row.library))


BEFORE_IMPORT = """
import sys
from agenttrace.integrations import instrument, uninstrument
from agenttrace.capture import hooks
assert instrument("{library}") == ("{library}",)
assert not [m for m in sys.modules if m.partition(".")[0] in ("openai", "anthropic")], "imported"
assert hooks() == ()
{more}
import {library}
print(len(hooks()), all(h.ok for h in hooks()))
print(hasattr({library}._base_client.BaseClient._build_request, "__wrapped__"))
"""


@pytest.mark.parametrize(
    ("library", "more", "said"),
    [
        ("openai", "", ["6 True", "True"]),
        ("openai", "uninstrument()", ["0 True", "False"]),
        ("openai", "uninstrument(); instrument('{library}')", ["6 True", "True"]),
        # What waits for the import is the same for all; this one takes seconds to import.
        ("anthropic", "uninstrument(); instrument('{library}')", ["6 True", "True"]),
    ],
)
def test_a_library_is_hooked_at_the_moment_it_is_imported(library: str, more: str, said: list[str]):
    program = BEFORE_IMPORT.format(more=more.format(library=library), library=library)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout.splitlines()) == (0, said), done.stderr
