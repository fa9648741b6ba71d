"""The demo as a whole: record every scenario, keep the artifact, print the verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from agenttrace.artifacts import write_artifact
from agenttrace.demo._live import live_case_document, record_live
from agenttrace.demo._record import Recorded, record_scenario, recording_apart
from agenttrace.demo._scenarios import SCENARIOS
from agenttrace.demo._show import Judged, print_pictures, print_rows, print_surprises
from agenttrace.errors import UnwritableFileError
from agenttrace.records import dump_json

DEFAULT_OUTPUT: Final = Path(".agenttrace/demo")
APIS: Final = ("chat", "responses")
MODES: Final = ("sync", "async")


def main(
    *,
    live: bool = False,
    as_json: bool = False,
    api: str = "chat",
    mode: str = "sync",
    plan: bool | None = None,
    output: Path | None = None,
) -> int:
    """Run the demo and return its exit code: 0 when it showed what it says it shows.

    Afterwards the folder holds `evidence.jsonl` and `cases.json`, from which `agenttrace score`
    gives the same verdicts. Nothing that the process has configured is changed.

    Args:
        live: Ask the real provider one question in place of the scenarios; needs OPENAI_API_KEY.
        as_json: Print one JSON object a row.
        api: `chat`, `responses`, or `all`.
        mode: Of the client: `sync`, `async`, or `all`.
        plan: Judge with the plan, or without it. None: both.
        output: Folder of the artifact; `.agenttrace/demo` by default.

    Raises:
        MissingExtraError: The openai SDK is not installed.
        ConfigurationError: A live answer was asked for and cannot be had.
        UnwritableFileError: The artifact cannot be written.
    """
    ways = [
        (one_api, one_mode)
        for one_api in (APIS if api == "all" else (api,))
        for one_mode in (MODES if mode == "all" else (mode,))
    ]
    folder = DEFAULT_OUTPUT if output is None else output
    evidence, cases = folder / "evidence.jsonl", folder / "cases.json"
    with recording_apart():
        if live:
            rows = list(_judge_live(ways, plan))
            documents = [live_case_document()]
        else:
            rows = list(_judge_scenarios(ways, plan))
            documents = [scenario.case_document() for scenario in SCENARIOS]
    runs = {id(row.run): row.run for row in rows}
    write_artifact(evidence, [record for run in runs.values() for record in run.records])
    _write_cases(cases, documents)
    if as_json:
        print_rows(rows)
    else:
        print_pictures(rows, evidence=evidence, cases=cases)
    print_surprises(rows)
    return 0 if all(row.is_as_expected for row in rows) else 1


def _judge_scenarios(ways: Sequence[tuple[str, str]], plan: bool | None) -> Iterator[Judged]:
    for scenario in SCENARIOS:
        for api, mode in ways:
            run = record_scenario(scenario, api=api, mode=mode)
            for has_plan in _judgements(plan):
                expected = scenario.with_plan if has_plan else scenario.without_plan
                yield Judged(run=run, has_plan=has_plan, shows=scenario.shows, expected=expected)


def _judge_live(ways: Sequence[tuple[str, str]], plan: bool | None) -> Iterator[Judged]:
    for api, mode in ways:
        run: Recorded = record_live(os.environ, api=api, mode=mode)
        for has_plan in _judgements(plan):
            shows = "A live model has refunded an order."
            yield Judged(run=run, has_plan=has_plan, shows=shows, expected=None)


def _judgements(plan: bool | None) -> tuple[bool, ...]:
    return (True, False) if plan is None else (plan,)


def _write_cases(path: Path, documents: list[dict[str, Any]]) -> None:
    lines = ",\n".join(dump_json(document) for document in documents)
    try:
        path.write_text(f'{{"cases": [\n{lines}\n]}}\n', "ascii")
    except OSError as error:
        raise UnwritableFileError(str(path), error.strerror or type(error).__name__) from error
