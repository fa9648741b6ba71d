"""What the model was told about each run, against what the run gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agenttrace.domain import Boundary, Execution, JsonValue, Kind, Owner, ResultShown
from agenttrace.records import JsonTextError, canonical, dump_json, parse_json
from agenttrace.scoring._link import Links
from agenttrace.scoring._row import Row


def walk_results(row: Row) -> None:
    """Note results that were altered, swapped or hidden on their way back to the model.

    A result has changed only when it is unequal under every known rendering of it. What was
    handed back after the last turn was not observed, and says nothing.
    """
    shown = row.evidence.conduct.results_shown
    if not shown:
        return
    by_place, by_id = _model_chains(row)
    for one in shown:
        chain = by_place.get((one.turn, one.position)) or by_id.get(canonical(one.call_id))
        if chain is not None:
            _judge(row, chain, one)


def _judge(row: Row, chain: Links, one: ResultShown) -> None:
    entry = chain.first(Boundary.EXECUTOR)
    if entry is None or not isinstance(entry.call, Execution):
        return
    run = entry.call
    returned = one.returned if one.returned_observed else run.result
    failed = run.error is not None and not one.returned_observed
    if not failed and not run.result_observed and not one.returned_observed:
        return
    if is_same_result(returned, one.shown) and not failed:
        return
    if failed:
        if one.is_error or _tells_error(run.error or "", one.shown):
            return
        kind: Kind = Kind.ERROR_HIDDEN
    else:
        others = [
            call.result
            for call in row.evidence.executor
            if call.ref != run.ref and not one.returned_observed
        ]
        swapped = any(is_same_result(other, one.shown) for other in others)
        kind = Kind.RESULT_SWAPPED if swapped else Kind.RESULT_CHANGED
    row.note(
        chain,
        Boundary.EXECUTOR,
        kind,
        Owner.ADAPTER,
        before=run.error if failed else returned,
        after=one.shown,
        later=0.5,
    )


def is_same_result(returned: JsonValue, shown: JsonValue) -> bool:
    """Whether `shown` is one of the renderings in which a result reaches a model."""
    if canonical(returned) == canonical(shown):
        return True
    if isinstance(shown, list | tuple):
        text = _content_text(shown)
        return text is not None and is_same_result(returned, text)
    if not isinstance(shown, str):
        return False
    if isinstance(returned, str):
        return returned.strip() == shown.strip() or shown == dump_json(returned)
    if shown.strip() == str(returned):
        return True
    try:
        return canonical(parse_json(shown).value) == canonical(returned)
    except JsonTextError:
        return False


def _content_text(blocks: Sequence[JsonValue]) -> str | None:
    parts = []
    for block in blocks:
        if not isinstance(block, Mapping) or block.get("type") not in (
            "text",
            "output_text",
            "input_text",
        ):
            return None
        parts.append(str(block.get("text", "")))
    return "".join(parts) if parts else None


def _tells_error(error: str, shown: JsonValue) -> bool:
    text = shown if isinstance(shown, str) else dump_json(shown)
    message = error.partition(": ")[2] or error
    lowered = text.casefold()
    return message.casefold() in lowered or "error" in lowered or "exception" in lowered


def _model_chains(
    row: Row,
) -> tuple[dict[tuple[int | None, int | None], Links], dict[str, Links]]:
    by_ref = {entry.call.ref: c for c in row.chains for entry in c.at(Boundary.MODEL)}
    places: dict[int | None, int] = defaultdict(int)
    by_place: dict[tuple[int | None, int | None], Links] = {}
    by_id: dict[str, Links] = {}
    for call in row.evidence.model:
        by_place[call.turn, places[call.turn]] = by_ref[call.ref]
        places[call.turn] += 1
        if call.call_id is not None:
            by_id[canonical(call.call_id)] = by_ref[call.ref]
    return by_place, by_id
