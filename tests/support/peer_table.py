"""The tables of `docs/explanation/other-scorers.md`, made of what other scorers answered.

`python -m tests.support.peer_table` prints them, to be put on the page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.domain import Status
from agenttrace.errors import InvalidCaseError
from agenttrace.scoring import score
from tests.cases.judged import shared_folder
from tests.support.peer_rows import Row, case_of, evidence_of, spans_evidence

FILE = shared_folder() / "data" / "scorer_characterisation.json"
COLUMNS = {
    "Ragas F1": "ragas_f1",
    "Ragas accuracy": "ragas_accuracy_strict",
    "DeepEval": "deepeval_default",
    "DeepEval exact": "deepeval_exact",
    "agentevals strict": "lc_agentevals_strict",
    "agentevals unordered": "lc_agentevals_unordered",
    "MLflow": "mlflow_exact_unordered",
    "ADK exact": "adk_exact",
    "ADK any order": "adk_any_order",
}
PACKAGES = {
    "ragas": "ragas",
    "deepeval": "deepeval",
    "lc_agentevals": "agentevals",
    "mlflow": "mlflow",
    "adk": "google-adk",
    "azure": "azure-ai-evaluation",
    "bfcl": "bfcl-eval",
    "pydantic_evals": "pydantic-evals",
    "harness_evals": "harness-evals",
}
WRITTEN = ("pass", "fail", "inconclusive", "refused")


def load() -> Mapping[str, Any]:
    """The recorded answers; empty where the shared material is not there."""
    document: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {}
    return document


def is_full(answer: Any) -> bool:
    """Whether a scorer found nothing wrong."""
    return answer is True or answer == "yes" or (isinstance(answer, float) and answer == 1.0)


def is_error(answer: Any) -> bool:
    """Whether a scorer raised."""
    return isinstance(answer, str) and answer.startswith("raises")


def is_wrong(right: str, answer: Any) -> bool:
    """A full score on `fail`, less on `pass`, an exception on either, none on `error`."""
    if isinstance(answer, str) and answer.startswith("cannot"):
        return False
    if right == "error":
        return not is_error(answer)
    return is_error(answer) or is_full(answer) != (right == "pass")


def cell(answer: Any) -> str:
    """An answer in a few characters."""
    if isinstance(answer, str) and answer not in ("yes", "no"):
        return "raises" if is_error(answer) else "-"
    if isinstance(answer, float) and answer not in (0.0, 1.0):
        return f"{answer:.2f}"
    return str(int(is_full(answer)))


def ours(row: Row) -> str:
    """What we answer to a row where its case asks for nothing more than its calls."""
    try:
        return score(case_of(row), evidence_of(row)).status.value
    except InvalidCaseError:
        return "refused"


def wrong_table(document: Mapping[str, Any]) -> str:
    """How many of the rows with one right answer each configuration gets wrong."""
    rows = [row for row in document["cases"] if row["right"] != "policy"]
    wrong = {
        name: sum(is_wrong(row["right"], row["outcomes"][name]) for row in rows)
        for name in rows[0]["outcomes"]
    }
    lines = [[f"`{name}`", _version(name, document), str(count)] for name, count in wrong.items()]
    return table(
        ["configuration", "package", f"wrong of {len(rows)}"],
        [
            ["agenttrace", "", str(sum(not _is_right(row) for row in rows))],
            *sorted(lines, key=lambda line: int(line[2])),
        ],
    )


def rows_table(document: Mapping[str, Any]) -> str:
    """Every row on which one of the five differs from us or from another."""
    lines = []
    for row in document["cases"]:
        said = [row["outcomes"][name] for name in COLUMNS.values()]
        if all(is_full(one) == (ours(row) == "pass") and not is_error(one) for one in said):
            continue
        own = ours(row) + ("; the case decides" if row["right"] == "policy" else "")
        lines.append([f"`{row['id']}`", own, *map(cell, said)])
    return table(["row", "agenttrace", *COLUMNS], lines)


def spans_table(document: Mapping[str, Any]) -> str:
    """Three boundaries, beside a reader of spans that makes one list of them."""
    lines = []
    for row in document["otel_boundary"]:
        verdict = score(case_of(row), spans_evidence(row))
        owner = "" if verdict.status is Status.PASS else f", {verdict.owner}"
        said = "pass" if row["agentevals_cli"]["exit"] == 0 else "fail"
        lines.append([f"`{row['id']}`", f"{verdict.status}: {verdict.first}{owner}", said])
    version = document["versions"]["agentevals-cli"]
    return table(["row", "agenttrace", f"agentevals-cli {version}"], lines)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in rows)


def tables() -> dict[str, str]:
    """Each table by the heading it stands under."""
    document = load()
    return {
        "How often each is wrong": wrong_table(document),
        "Where the answers differ": rows_table(document),
        "What one list cannot hold": spans_table(document),
    }


def _is_right(row: Row) -> bool:
    said = ours(row)
    return said == row["right"] or (row["right"] == "error" and said in WRITTEN[2:])


def _version(name: str, document: Mapping[str, Any]) -> str:
    package = next(package for start, package in PACKAGES.items() if name.startswith(start))
    return f"{package} {document['versions'][package]}"


if __name__ == "__main__":
    for heading, text in tables().items():
        print(f"## {heading}\n\n{text}\n")
