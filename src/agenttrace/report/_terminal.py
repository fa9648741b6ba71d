"""One verdict for a person at a terminal.

The status line says what, where and who; below stand the records side by side, what belongs to no
call, the ids, and the command that shows it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agenttrace.domain import (
    BOUNDARIES,
    Boundary,
    Case,
    Cause,
    Chain,
    Divergence,
    Evidence,
    First,
    JsonValue,
    Kind,
    RequiredCall,
    Status,
    Verdict,
)
from agenttrace.report._columns import (
    Column,
    columns_of,
    hidden_columns,
    outcome_text,
    pair_expected,
    raw_differs,
    records_by_ref,
    runs_text,
)
from agenttrace.report._lineage import lineage_text
from agenttrace.report._table import MARK, Row, table
from agenttrace.report._text import call_text, cells, elided, pair_texts, visible

_COLOURS: Final = {Status.PASS: "32", Status.FAIL: "31", Status.INCONCLUSIVE: "33"}
_NARROWEST: Final = 40
_MOST_CHAINS: Final = 20
_DIGEST: Final = len("sha256:") + 12


def terminal_verdict(
    verdict: Verdict,
    evidence: Evidence | None,
    case: Case | None = None,
    *,
    width: int = 80,
    colour: bool = False,
    replay: str | None = None,
) -> str:
    """The picture of one verdict, without a line's end.

    Args:
        evidence: The records; None: the verdict stands alone.
        case: The contract, for the column of what was expected.
        width: Columns of the terminal; below 40 it is 40.
        colour: Whether the status may carry colour; nothing else ever does.
        replay: The command that shows it again; None: the one for the default folder.
    """
    width = max(width, _NARROWEST)
    records = records_by_ref(evidence)
    lines = [*_headline(verdict, width, colour=colour)]
    expected = pair_expected(case, verdict, records)
    for chain in _chains(verdict):
        lines += _chain_lines(chain, verdict, evidence, expected.get(chain.key), width)
    hidden = len(verdict.chains) - _MOST_CHAINS
    if hidden > 0:
        lines.append(f"{hidden} more calls without a finding are not shown; --json has them.")
    lines += _loose_ends(verdict, width)
    lines += ["", *_ids(verdict, width)]
    name = verdict.run_id if verdict.case_id is None else verdict.case_id
    lines.append(f"replay: {visible(replay or replay_command(name))}")
    return "\n".join(lines)


def replay_command(name: str, *, source: str | None = None, cases: str | None = None) -> str:
    """The command that shows a run again.

    Args:
        name: A case id, or a run id where the case has several runs.
        source: File or folder of the evidence. None: the default folder.
        cases: File or folder of the cases.
    """
    words = ["agenttrace", "show", *([source] if source else []), name]
    return shlex.join([*words, "--cases", cases] if cases else words)


def _headline(verdict: Verdict, width: int, *, colour: bool) -> Iterator[str]:
    status = verdict.status.value.upper()
    if colour:
        status = f"\x1b[1;{_COLOURS[verdict.status]}m{status}\x1b[0m"
    name = verdict.case_id if verdict.case_id is not None else f"run {verdict.run_id}"
    yield f"{status}  {elided(visible(name), width - len(verdict.status) - 2)}"
    yield from _joined(_finding(verdict), width, "  ")
    if verdict.divergences:
        yield from _change(verdict.divergences[0], width, "  ")
    if verdict.lineage is not None and (text := lineage_text(verdict.lineage)):
        yield from _wrapped(f"lineage: {text}", width, "  ")


def _finding(verdict: Verdict) -> list[str]:
    """The first divergence in words."""
    first = verdict.divergences[0] if verdict.divergences else None
    parts = [f"first divergence: {verdict.first.value}"]
    if first is not None:
        parts.append(f"{first.kind.value} {visible(first.path)}".rstrip())
    if verdict.first is not First.NONE or verdict.owner.value != "none":
        parts.append(f"owner: {verdict.owner.value}")
    if verdict.also:
        parts.append(f"also: {', '.join(verdict.also)}")
    if verdict.recovered:
        parts.append("recovered: refused, then repaired by the model")
    if verdict.plan is not None:
        parts.append(f"plan: {visible(verdict.plan)}")
    return parts


def _change(divergence: Divergence, width: int, indent: str) -> Iterator[str]:
    room = width - len(indent) - len("before ")
    before, after = pair_texts(divergence.before, divergence.after, room)
    if len(before) + len(after) + 4 + len(indent) <= width:
        yield f"{indent}{before} -> {after}"
    else:
        yield f"{indent}before {before}"
        yield f"{indent}after  {after}"
    if divergence.detail:
        yield from _wrapped(visible(divergence.detail), width, indent)


def _chains(verdict: Verdict) -> list[Chain]:
    """Chains with a divergence are always shown, the rest while there is room."""
    diverging = {divergence.call for divergence in verdict.divergences}
    chosen = [c.key for c in sorted(verdict.chains, key=lambda c: c.key not in diverging)]
    kept = set(chosen[:_MOST_CHAINS])
    return [chain for chain in verdict.chains if chain.key in kept]


def _chain_lines(
    chain: Chain,
    verdict: Verdict,
    evidence: Evidence | None,
    expected: RequiredCall | None,
    width: int,
) -> list[str]:
    records = records_by_ref(evidence)
    columns = columns_of(chain, records, expected, evidence)
    own = [one for one in verdict.divergences if one.call == chain.key]
    lines = ["", elided(f"{visible(chain.name)}  (call {visible(chain.key)})", width)]
    seen = [column for column in columns if column.calls]
    if not seen:
        return [*lines, "  (its records are not here)"]
    lines += table([column.title for column in columns], list(_rows(columns, own)), width)
    if hidden_columns(chain, columns):
        lines.append(f"  and {hidden_columns(chain, columns)} more records, not shown")
    for column in seen:
        lines += _raw_lines(column, width)
    for divergence in own:
        if divergence is verdict.divergences[0]:
            continue
        text = f"{divergence.boundary}: {divergence.kind} {visible(divergence.path)}".rstrip()
        lines.append(elided(f"{MARK}{text} · owner: {divergence.owner}", width))
        lines += _change(divergence, width, "    ")
    return lines


_SHOWS_IN: Final = {
    Kind.DUPLICATED: "ran",
    Kind.NOT_EXECUTED: "ran",
    Kind.NOT_REQUESTED: "ran",
    Kind.MUTATED: "ran",
    Kind.REJECTED: "result",
    Kind.RESULT_CHANGED: "result",
    Kind.RESULT_SWAPPED: "result",
    Kind.ERROR_HIDDEN: "result",
}
"""Row that shows a change of a whole call; the others show beside the tool's name."""


def _rows(columns: Sequence[Column], divergences: Sequence[Divergence]) -> Iterator[Row]:
    whole = [one for one in divergences if one.path == ""]
    texts = {
        "tool": [visible(column.name) for column in columns],
        "ran": [runs_text(column) for column in columns],
        "result": [visible(outcome_text(column)) for column in columns],
    }
    marks = {
        label: _marked(columns, [one for one in whole if _SHOWS_IN.get(one.kind, "tool") == label])
        for label in texts
    }
    if marks["tool"] or len(set(texts["tool"])) > 1:
        yield Row(label="tool", cells=texts["tool"], marked=marks["tool"])
    for pointer in _pointers(columns, divergences):
        yield Row(
            label=visible(pointer),
            cells=[column.cell(pointer) for column in columns],
            marked=_marked(columns, [one for one in divergences if pointer in _paths(one)]),
        )
    for label in ("ran", "result"):
        if any(texts[label]) or marks[label]:
            yield Row(label=label, cells=texts[label], marked=marks[label])


def _pointers(columns: Sequence[Column], divergences: Sequence[Divergence]) -> list[str]:
    """Each argument once, and below it the paths inside it that changed."""
    tops: dict[str, None] = {}
    for column in columns:
        for name in column.arguments or ():
            tops["/" + name.replace("~", "~0").replace("/", "~1")] = None
        if column.expected is not None:
            tops.update(dict.fromkeys(column.expected.rules))
    for divergence in divergences:
        tops.update(dict.fromkeys(_paths(divergence)))
    tops.pop("", None)
    return sorted(tops, key=lambda pointer: _place(pointer, list(tops)))


def _place(pointer: str, order: list[str]) -> tuple[int, int]:
    """A path inside an argument stands below the argument."""
    top = "/".join(pointer.split("/")[:2])
    return order.index(top if top in order else pointer), len(pointer)


def _paths(divergence: Divergence) -> set[str]:
    if divergence.kind is Kind.RENAMED and isinstance(divergence.after, str):
        return {divergence.path, divergence.after}
    return {divergence.path}


def _marked(columns: Sequence[Column], divergences: Sequence[Divergence]) -> frozenset[int]:
    wrong = {one.boundary for one in divergences}
    return frozenset(i for i, column in enumerate(columns) if column.boundary in wrong)


def _raw_lines(column: Column, width: int) -> Iterator[str]:
    call = column.calls[0]
    if call.boundary is not Boundary.MODEL or not raw_differs(call):
        return
    if call.raw is None:
        yield "  raw text: not recorded" if not call.raw_observed else "  raw text: absent"
        return
    cut = ", cut off" if call.complete is False else ""
    yield elided(f"  raw text ({len(call.raw)} characters{cut}): {visible(call.raw)}", width)


def _loose_ends(verdict: Verdict, width: int) -> Iterator[str]:
    """Everything that belongs to no chain: missing and extra calls, rules, causes, findings."""
    shown = {chain.key for chain in verdict.chains}
    figures = verdict.figures
    lines: list[str] = []
    for one in verdict.divergences[1:]:
        if one.call not in shown:
            text = f"{one.boundary}: {one.kind} {visible(one.path)}".rstrip()
            lines += [f"{MARK}{text} ({visible(one.call)})", *_change(one, width, "    ")]
    if figures is not None:
        lines += _calls("missing", figures.missing, width)
        lines += _calls("extra", figures.extra, width)
    for rule in verdict.policy:
        lines += _wrapped(f"broken rule: {visible(rule)}", width, "")
    lines += _causes("cause", verdict.causes, width)
    lines += _causes("finding", verdict.findings, width)
    if lines:
        yield ""
        yield from lines


def _calls(label: str, calls: Iterable[JsonValue], width: int) -> Iterator[str]:
    for call in calls:
        yield elided(f"{label}: {call_text(call)}", width)


def _causes(label: str, causes: Iterable[Cause], width: int) -> Iterator[str]:
    for cause in causes:
        yield from _wrapped(f"{label}: {cause.code}: {visible(cause.detail)}", width, "")


def _ids(verdict: Verdict, width: int) -> Iterator[str]:
    counts = [f"{boundary.value} {_figures(verdict, boundary)}" for boundary in BOUNDARIES]
    if any(verdict.boundaries.get(boundary) is not None for boundary in BOUNDARIES):
        counts[0] = f"figures: {counts[0]}"
        yield from _joined(counts, width, "")
    parts = [f"run {visible(verdict.run_id)}", f"attempt {verdict.attempt}"]
    if verdict.case_id is not None:
        revision = f" @ {visible(verdict.case_revision)}" if verdict.case_revision else ""
        parts.append(f"case {visible(verdict.case_id)}{revision}")
    yield from _joined(parts, width, "")
    parts = [
        f"requests {visible(', '.join(verdict.request_ids)) or 'none'}",
        f"responses {visible(', '.join(verdict.response_ids)) or 'none'}",
        f"evidence {(verdict.evidence_digest or 'without digest')[:_DIGEST]}",
    ]
    yield from _joined(parts, width, "")


def _figures(verdict: Verdict, boundary: Boundary) -> str:
    figures = verdict.boundaries.get(boundary)
    if figures is None:
        return "not compared"
    counts = figures.counts
    f1 = "-" if counts.f1 is None else f"{counts.f1:.4g}"
    return f"tp {counts.tp} fp {counts.fp} fn {counts.fn} f1 {f1}"


def _joined(parts: Iterable[str], width: int, indent: str) -> Iterator[str]:
    """Parts with a dot between them, broken between parts where a line is full."""
    line = ""
    for part in parts:
        longer = f"{line} · {part}" if line else part
        if line and len(indent) + cells(longer) > width:
            yield from _wrapped(line, width, indent)
            line = part
        else:
            line = longer
    yield from _wrapped(line, width, indent)


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    """Break between words; a word that is too long for a line is elided."""
    line = indent
    room = width - len(indent)
    for word in text.split(" "):
        piece = elided(word, room)
        if line != indent and len(line) + 1 + len(piece) > width:
            yield line
            line = indent + "  " if len(piece) + 2 <= room else indent
        line += piece if line.strip() == "" else f" {piece}"
    yield line
