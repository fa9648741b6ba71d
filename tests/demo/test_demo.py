"""`agenttrace demo`: what every run of it says, printed, kept and judged again."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as otel

from agenttrace import demo, integrations
from agenttrace.capture import recorder
from agenttrace.demo import ScriptedProvider, Turn
from agenttrace.errors import ConfigurationError, MissingExtraError, UnwritableFileError

pytest.importorskip("openai")
pytest.importorskip("anthropic")

pytestmark = pytest.mark.timeout(300)

KEPT_OUT = ("AGENTTRACE_", "ANTHROPIC_", "COLUMNS", "OPENAI_", "OTEL_")

CLEAN = ("pass", "none", None, None, "none", [], False)
AT_ADAPTER = ("fail", "adapter", "scaled", "/amount_cents", "adapter", [], False)
AT_EXECUTOR = ("fail", "executor", "value_changed", "/amount_cents", "executor", [], False)
TWICE = ("fail", "executor", "duplicated", "", "executor-retries", [], False)
RECOVERED = ("pass", "model", "added", "", "agent", [], True)
BLANK = ("inconclusive", "instrumentation", None, None, "instrumentation", [], False)

SAYS = {
    "clean": (CLEAN, CLEAN),
    "wrong-at-model": (
        ("fail", "model", "value_changed", "/amount_cents", "agent", [], False),
        CLEAN,
    ),
    "wrong-at-adapter": (AT_ADAPTER, AT_ADAPTER),
    "wrong-at-executor": (AT_EXECUTOR, AT_EXECUTOR),
    "runs-twice": (TWICE, TWICE),
    "cut-off": (
        ("fail", "model", "truncated", "", "agent", ["adapter"], False),
        ("fail", "adapter", "repaired", "", "adapter", [], False),
    ),
    "refused-then-repaired": (RECOVERED, RECOVERED),
    "no-calls": (CLEAN, CLEAN),
    "blank": (BLANK, BLANK),
}
"""Scenario to verdict, first divergence, kind, path, owner, also and recovered: with the plan, and
without."""

CLOSED_BY_THE_PROVIDER = (
    ("fail", "model", "scaled", "/amount_cents", "agent", [], False),
    CLEAN,
)
"""What `cut-off` says where the format of a whole message holds no text that is cut off."""

VALUES = {
    "wrong-at-model": (9800, 8900),
    "wrong-at-adapter": (9800, 98),
    "wrong-at-executor": (9800, 5000),
    "runs-twice": (1, 2),
}


def command(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(KEPT_OUT)}
    return subprocess.run(
        [sys.executable, "-m", "agenttrace", *words],
        cwd=folder,
        env=kept | {"HOME": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


def rows_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def everything(folder: Path) -> list[dict[str, Any]]:
    done = command("demo", "--all", "--json", "-o", "kept", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return rows_of(done)


@pytest.fixture(scope="module")
def pictures(folder: Path) -> str:
    done = command("demo", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def picture_of(pictures: str, scenario: str) -> str:
    after = pictures.partition(f". {scenario} (sync, chat) ")[2]
    assert after, f"{scenario} is not printed"
    return after.partition(" (sync, chat) ")[0].partition("\n")[2]


@pytest.mark.parametrize("has_plan", [True, False], ids=["plan", "no-plan"])
@pytest.mark.parametrize(
    "way",
    list(product(["sync", "async"], ["chat", "responses", "messages"], [True, False])),
    ids=lambda way: f"{way[0]}-{way[1]}-{'streamed' if way[2] else 'whole'}",
)
@pytest.mark.parametrize("scenario", SAYS)
def test_every_run_is_judged_as_the_design_says(
    everything: list[dict[str, Any]], scenario: str, way: tuple[str, str, bool], has_plan: bool
):
    _, api, streamed = way
    wanted = (scenario, *way, has_plan)
    [row] = [r for r in everything if wanted == tuple(r[k] for k in KEYS)]

    said = (
        row["verdict"],
        row["first_divergence"],
        row["kind"],
        row["path"],
        row["owner"],
        row["also"],
        row["recovered"],
    )
    is_closed = (scenario, api, streamed) == ("cut-off", "messages", False)
    says = CLOSED_BY_THE_PROVIDER if is_closed else SAYS[scenario]
    assert said == says[0 if has_plan else 1]
    assert row["as_expected"]
    assert row["sdk"] == ("anthropic" if api == "messages" else "openai")
    if row["kind"] and scenario in VALUES:
        assert (row["before"], row["after"]) == VALUES[scenario]


KEYS = ("scenario", "mode", "api", "streamed", "with_plan")


def test_every_scenario_is_run_each_way_once(everything: list[dict[str, Any]]):
    assert len(everything) == len({tuple(r[k] for k in KEYS) for r in everything}) == 216
    assert len({r["run_id"] for r in everything}) == 108


def test_cut_off_text_is_named_beside_what_was_made_of_it(everything: list[dict[str, Any]]):
    for row in everything:
        if row["kind"] == "truncated":
            first, second = row["divergences"]
            assert first["after"]["args_raw"] == '{"order_id":"A-104","amount_cents":98'
            assert second["after"]["args"] == {"order_id": "A-104", "amount_cents": 98}


def test_runs_without_the_hook_have_no_figures_at_the_model(everything: list[dict[str, Any]]):
    blank = [row for row in everything if row["scenario"] == "blank" and row["with_plan"]]

    assert [row["boundaries"]["model"] for row in blank] == [None] * 12
    assert {row["causes"][0]["code"] for row in blank} == {"blank"}


@pytest.mark.parametrize("has_plan", [True, False], ids=["plan", "no-plan"])
def test_the_artifact_gives_the_same_verdicts_again(
    everything: list[dict[str, Any]], folder: Path, has_plan: bool
):
    own = {"scenario", "shows", "sdk", "api", "mode", "streamed", "with_plan", "as_expected"}
    cases = ["--cases", "kept/cases.json"] if has_plan else []

    done = command("score", "kept/evidence.jsonl", *cases, "--json", folder=folder)

    again = {row["run_id"]: row for row in rows_of(done)}
    first = {
        row["run_id"]: {k: v for k, v in row.items() if k not in own}
        for row in everything
        if row["with_plan"] is has_plan
    }
    assert again == first
    assert done.returncode == 1


def test_each_api_and_mode_can_be_chosen(tmp_path: Path):
    done = command(
        *("demo", "--json", "--api", "messages", "--mode", "async", "--stream", "--no-plan"),
        folder=tmp_path,
    )

    assert {tuple(r[k] for k in KEYS[1:]) for r in rows_of(done)} == {
        ("async", "messages", True, False)
    }


def test_of_several_ways_the_first_is_pictured_and_each_other_is_a_line(tmp_path: Path):
    done = command("demo", "--api", "all", folder=tmp_path)

    heads = [line for line in done.stdout.splitlines() if line.endswith("-" * 20)]
    lines = [line for line in done.stdout.splitlines() if ", with the plan: " in line]
    assert [head.split(" ")[1:4] for head in heads] == [[name, "(sync,", "chat)"] for name in SAYS]
    assert len(lines) == 2 * len(SAYS)
    assert "54 rows: 22 passed, 26 failed, 6 inconclusive" in done.stdout


@pytest.mark.parametrize(
    ("scenario", "boundary", "owner", "change"),
    [
        ("wrong-at-model", "model", "agent", "9800 -> 8900"),
        ("wrong-at-adapter", "adapter", "adapter", "9800 -> 98"),
        ("wrong-at-executor", "executor", "executor", "9800 -> 5000"),
        ("runs-twice", "executor", "executor-retries", "1 -> 2"),
    ],
)
def test_a_picture_names_boundary_values_owner_and_command(
    pictures: str, scenario: str, boundary: str, owner: str, change: str
):
    shown = picture_of(pictures, scenario)

    assert f"first divergence: {boundary} " in shown
    assert f"owner: {owner}\n" in shown
    assert f"  {change}\n" in shown
    replay = f"replay: agenttrace show .agenttrace/demo/evidence.jsonl {scenario} --cases "
    assert f"{replay}.agenttrace/demo/cases.json\n" in shown


@pytest.mark.parametrize(
    ("scenario", "column"),
    [("wrong-at-model", 1), ("wrong-at-adapter", 2), ("wrong-at-executor", 3)],
)
def test_the_changed_argument_is_marked_where_it_changed(pictures: str, scenario: str, column: int):
    shown = picture_of(pictures, scenario)
    [marked] = [line for line in shown.splitlines() if line.startswith("> /amount_cents")]

    value = str(VALUES[scenario][1])
    cells = marked.removeprefix("> /amount_cents").split()
    assert cells.index(">") == column
    assert cells[column + 1] == value


def test_the_printed_command_shows_the_same_picture(pictures: str, folder: Path):
    shown = picture_of(pictures, "wrong-at-adapter")
    [replay] = [line for line in shown.splitlines() if line.startswith("replay: ")]

    done = command(*shlex.split(replay)[2:], folder=folder)

    first = shown.partition("\n\n")[2].partition("without the plan: ")[0]
    # A file holds arguments by name, a running agent in the order in which they came.
    assert sorted(done.stdout.splitlines()) == sorted(first.splitlines())
    assert done.returncode == 1


def test_a_picture_also_says_what_shows_without_the_plan(pictures: str):
    lines = {
        name: picture_of(pictures, name).partition("without the plan: ")[2].splitlines()[0]
        for name in ("wrong-at-model", "cut-off")
    }

    assert lines == {
        "wrong-at-model": "PASS · first divergence: none",
        "cut-off": "FAIL · first divergence: adapter · repaired · owner: adapter",
    }


def test_the_demo_ends_with_a_summary(pictures: str):
    assert "18 rows: 7 passed, 9 failed, 2 inconclusive" in pictures
    assert "score again: agenttrace score .agenttrace/demo/evidence.jsonl --cases" in pictures


# Whoever runs it in a process of their own


@pytest.fixture
def quiet(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    capsys.readouterr()


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("was_hooked", [True, False])
def test_nothing_that_the_process_configured_is_changed(tmp_path: Path, was_hooked: bool):
    if was_hooked:
        integrations.instrument("openai")
    before = (recorder.settings, recorder.providers, recorder.is_active, recorder.listeners)
    hooked, provider = integrations.instrumented(), otel.get_tracer_provider()
    try:
        code = demo.main(plan=True, output=tmp_path / "kept")

        after = (recorder.settings, recorder.providers, recorder.is_active, recorder.listeners)
        assert code == 0
        assert all(new is old for new, old in zip(after, before, strict=True))
        assert (integrations.instrumented(), otel.get_tracer_provider()) == (hooked, provider)
        assert sorted(path.name for path in tmp_path.rglob("*")) == [
            "cases.json",
            "evidence.jsonl",
            "kept",
        ]
    finally:
        integrations.uninstrument("openai")


@pytest.mark.parametrize(("sdk", "api"), [("openai", "chat"), ("anthropic", "messages")])
def test_without_the_sdk_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sdk: str, api: str
):
    for name in [n for n in sys.modules if n.partition(".")[0] == sdk]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, sdk, None)

    with pytest.raises(MissingExtraError, match=rf"agenttrace-otel\[{sdk}\]"):
        demo.main(output=tmp_path, api=api)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path):
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(UnwritableFileError, match="taken"):
        demo.main(plan=True, output=tmp_path / "taken")


# The real provider


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_live_without_a_key_is_bad_input(tmp_path: Path, api: str):
    done = command("demo", "--live", "--api", api, folder=tmp_path)

    key = "ANTHROPIC_API_KEY" if api == "messages" else "OPENAI_API_KEY"
    assert done.returncode == 2
    assert f"{key} is not set" in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_live_answer_is_recorded_and_judged_with_a_plan_and_without(tmp_path: Path, api: str):
    with ScriptedProvider([Turn(text="I would rather not.")]) as provider:
        done = command(
            *("demo", "--live", "--json", "--api", api, "--stream"),
            folder=tmp_path,
            OPENAI_API_KEY="sk-test",
            OPENAI_BASE_URL=provider.base_url,
            OPENAI_MODEL="some-model",
            ANTHROPIC_API_KEY="sk-test",
            ANTHROPIC_BASE_URL=provider.address,
            ANTHROPIC_MODEL="some-model",
        )

    planned, unplanned = rows_of(done)
    assert (planned["verdict"], planned["first_divergence"]) == ("fail", "model")
    assert (unplanned["verdict"], unplanned["first_divergence"]) == ("pass", "none")
    assert provider.requests[0].body["model"] == "some-model"
    assert done.returncode == 0


def test_a_live_provider_that_refuses_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refusal = Turn(status=401, body={"error": {"message": "no such key", "type": "auth"}})
    with ScriptedProvider([refusal]) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)

        with pytest.raises(ConfigurationError, match=r"AuthenticationError.*no such key"):
            demo.main(live=True, output=tmp_path / "kept")

    assert list(tmp_path.iterdir()) == []
