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
from agenttrace.demo._ways import Way, ways
from agenttrace.errors import UnwritableFileError
from agenttrace.records import dump_json

DEFAULT_OUTPUT: Final = Path(".agenttrace/demo")


def main(
    *,
    live: bool = False,
    as_json: bool = False,
    api: str = "chat",
    mode: str = "sync",
    stream: bool | None = False,
    plan: bool | None = None,
    output: Path | None = None,
) -> int:
    """Run the demo and return its exit code: 0 when it showed what it says it shows.

    Afterwards the folder holds `evidence.jsonl` and `cases.json`, from which `agenttrace score`
    gives the same verdicts. Nothing that the process has configured is changed.

    Args:
        live: Ask the real provider one question in place of the scenarios; needs the SDK's key
            (OPENAI_API_KEY, ANTHROPIC_API_KEY).
        as_json: Print one JSON object a row.
        api: `chat` and `responses` ask with the openai SDK, `messages` with the anthropic SDK;
            `all`: each of them.
        mode: Of the client: `sync`, `async`, or `all`.
        stream: Have answers streamed. None: once streamed and once whole.
        plan: Judge with the plan, or without it. None: both.
        output: Folder of the artifact; `.agenttrace/demo` by default.

    Raises:
        MissingExtraError: An SDK that is needed is not installed.
        ConfigurationError: A live answer was asked for and cannot be had.
        UnwritableFileError: The artifact cannot be written.
    """
    chosen = list(ways(api=api, mode=mode, stream=stream))
    folder = DEFAULT_OUTPUT if output is None else output
    evidence, cases = folder / "evidence.jsonl", folder / "cases.json"
    with recording_apart():
        if live:
            rows = list(_judge_live(chosen, plan))
            documents = [live_case_document()]
        else:
            rows = list(_judge_scenarios(chosen, plan))
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


def _judge_scenarios(chosen: Sequence[Way], plan: bool | None) -> Iterator[Judged]:
    for each in SCENARIOS:
        for way in chosen:
            scenario = each.asked(way)
            run = record_scenario(scenario, way)
            for has_plan in _judgements(plan):
                expected = scenario.with_plan if has_plan else scenario.without_plan
                yield Judged(run=run, has_plan=has_plan, shows=scenario.shows, expected=expected)


def _judge_live(chosen: Sequence[Way], plan: bool | None) -> Iterator[Judged]:
    for way in chosen:
        run: Recorded = record_live(os.environ, way)
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
