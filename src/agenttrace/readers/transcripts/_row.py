"""One row of a chat log: whose run it is, what was expected of it, and its records.

A row that holds no message is blank: a run of which nothing was recorded. It is kept, because a
run that died must not vanish from the figures, and it can never pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agenttrace.contracts import parse_case
from agenttrace.domain import Boundary, Case, Evidence, JsonObject, JsonValue, Run
from agenttrace.errors import InvalidCaseError, MalformedFileError
from agenttrace.readers.transcripts._formats import SHAPES, TranscriptFormat, recognise_row
from agenttrace.readers.transcripts._records import digest_of, records_of
from agenttrace.readers.transcripts._turns import as_objects, said, text_or_none
from agenttrace.records import Record, ShapeError, ToolSchema, assemble

PLAN: Final = "expected"
"""Field of a row that holds its plan."""
_HASH_DIGITS: Final = 12


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """One run as a chat log holds it."""

    path: str
    line: int
    """Where the row begins, from 1."""
    records: tuple[Record, ...]
    """The model boundary, and the run's end."""
    case: Case | None
    """The plan that stands in the row. None: it has none."""

    @property
    def run(self) -> Run:
        """The run that the records are of."""
        return self.records[-1].run

    def evidence(self) -> Evidence:
        """The evidence of the run: the model boundary observed, the other two not.

        Raises:
            MalformedFileError: A value is nested too deeply to be compared.
        """
        try:
            return assemble(self.records)
        except (ValueError, RecursionError) as error:
            raise MalformedFileError(
                self.path,
                f"the row cannot be put together ({type(error).__name__}: {error!s:.80})",
                line=self.line,
                then="The row was not scored.",
            ) from error


def read_row(
    row: JsonValue,
    form: TranscriptFormat,
    *,
    path: str,
    line: int,
    unique: Callable[[str], str],
) -> Transcript:
    """Turn one row into a run.

    Args:
        unique: Makes a run id that no earlier row has.

    Raises:
        ShapeError: The row is none of this format.
        InvalidCaseError: The plan in the row does not fit the form of a case's required calls.
    """
    if not isinstance(row, dict):
        raise ShapeError("the row", f"is {said(row)}, not an object")
    shape = SHAPES[form]
    if not any(name in row for name in shape.fields):
        other = recognise_row(row)
        if other is not None or PLAN not in row:
            held = ", ".join(f"{name!r:.40}" for name in list(row)[:5]) or "no fields"
            then = "" if other is None else f"; read this log with --format {other}"
            fields = " or ".join(shape.fields)
            raise ShapeError("the row", f"has no {fields}; it holds {held}{then}")
    turns = shape.read_turns(row)
    tools = _tools(row)
    case_id, attempt = _case_id(row), _attempt(row)
    held_fields = {name: row[name] for name in (*shape.fields, *shape.beside) if name in row}
    content = digest_of([form.value, case_id, attempt, held_fields])
    given_id = _name(row, "run_id")
    run = Run(
        run_id=unique(given_id or f"{case_id or 'row'}@{content[:_HASH_DIGITS]}"),
        case_id=case_id,
        attempt=attempt,
    )
    return Transcript(
        path=path,
        line=line,
        records=records_of(run, turns, tools, content=content, model=text_or_none(row, "model")),
        case=_plan(row, case_id or run.run_id, f"{path}:{line}"),
    )


def _case_id(row: JsonObject) -> str | None:
    return _name(row, "case_id")


def _name(row: JsonObject, key: str) -> str | None:
    value = row.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise ShapeError(key, f"is {said(value)}, not a text with something in it")
    return value


def _attempt(row: JsonObject) -> int:
    """The number of the try: `attempt` counts from 1, `trial` from 0."""
    for key, first in (("attempt", 1), ("trial", 0)):
        value = row.get(key)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < first:
            raise ShapeError(key, f"is {said(value)}, not a whole number from {first}")
        return value - first + 1
    return 1


def _plan(row: JsonObject, case_id: str, where: str) -> Case | None:
    expected = row.get(PLAN)
    if expected is None:
        return None
    try:
        return parse_case({"id": case_id, "required": expected}, where)
    except InvalidCaseError as error:
        # The row's own word for it, not the case file's.
        reason = error.reason
        if reason.startswith("required"):
            reason = f"{PLAN}{reason.removeprefix('required')}"
        raise InvalidCaseError(where, reason) from error


def _tools(row: JsonObject) -> list[ToolSchema] | None:
    """The tools that the row says were offered. None: it does not say."""
    if row.get("tools") is None and row.get("functions") is None:
        return None
    found = []
    for key in ("tools", "functions"):
        for tool in as_objects(row.get(key), key):
            inner = tool.get("function")
            part = inner if isinstance(inner, dict) else tool
            schema = part.get("parameters", part.get("input_schema"))
            schema = schema if isinstance(schema, dict) else {}
            name = text_or_none(part, "name") or text_or_none(tool, "type") or ""
            digest = f"sha256:{digest_of(schema)}"
            made = ToolSchema(tool=name, schema=schema, digest=digest, boundary=Boundary.MODEL)
            found.append(made)
    return found
