"""One collector for all tests of a worker, and the exporters that send to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.collector.chain import PROTOCOLS, Chain, chain


@pytest.fixture(scope="session")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """rotel, what it forwards to, and oteltap behind that."""
    with chain(tmp_path_factory.mktemp("collector")) as one:
        yield one


@pytest.fixture(scope="session")
def collectors(
    collector: Chain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Chain]]:
    """One for each protocol, so that the same runs can be sent by both."""
    with chain(tmp_path_factory.mktemp("collector")) as other:
        yield dict(zip(PROTOCOLS, (collector, other), strict=True))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exporters read the environment, where a developer may have set anything."""
    for name in ("ENDPOINT", "TRACES_ENDPOINT", "PROTOCOL", "TRACES_PROTOCOL", "COMPRESSION"):
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}", raising=False)
