"""What the model was told about each run, against what the run gave.

A result has changed only when it is unequal under every known rendering of it: its JSON, its text,
the content blocks that carry either, and a text that was cut and says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agenttrace._late import TYPE_CHECKING, late_pattern
from agenttrace.domain import Boundary, Execution, JsonValue, Kind, Owner, ResultShown, ToolCall
from agenttrace.records import JsonTextError, canonical, dump_json, parse_json
from agenttrace.redaction import key_ids
from agenttrace.scoring._forms import in_causal_order
from agenttrace.scoring._link import Links
from agenttrace.scoring._opaque import digest_kind, is_respelled
from agenttrace.scoring._row import Row
from agenttrace.scoring._undecided import undecided

if TYPE_CHECKING:
    from typing import Final

_ERROR_WORDS: Final = late_pattern(
    r"\b(?:errors?|exceptions?|failed|failure|traceback|timed out|timeout)\b", re.IGNORECASE
)
_NO_ERROR: Final = late_pattern(
    r"\b(?:no|without|zero|0)\s+(?:errors?|exceptions?|failures?)\b", re.IGNORECASE
)
_CUT_NOTE: Final = re.compile(
    r"(?:\u2026|\.{3})?\s{0,9}"
    r"[\[(<][^\[\](){}<>]{0,60}"
    r"(?:truncated|shortened|omitted|cut off|more (?:characters|chars|bytes|tokens|lines))"
    r"[^\[\](){}<>]{0,60}[\])>]"
    r"(?:\s{0,9}(?:\u2026|\.{3}))?",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r'[^\s{}\[\],:"]+')
_ELLIPSES: Final = ("\u2026", "...")
_LONGEST: Final = 100_000
Rendering = tuple[str, str]


def walk_results(row: Row) -> None:
    """Note results that were altered, swapped or hidden on their way back to the model.

    What was handed back after the last turn was not observed, and says nothing.
    """
    shown = row.evidence.conduct.results_shown
    if not shown:
        return
    by_place, by_id = _model_chains(row)
    runs_of: dict[Rendering, set[str]] = defaultdict(set)
    for call in row.evidence.executor:
        for one in _renderings(call.result):
            runs_of[one].add(call.ref)
    for answer in shown:
        chain = by_place.get((answer.turn, answer.position)) or by_id.get(canonical(answer.call_id))
        if chain is not None:
            _judge(row, chain, answer, runs_of)


def is_same_result(returned: JsonValue, shown: JsonValue) -> bool:
    """Whether `shown` is one of the renderings in which a result reaches a model."""
    readings = _readings(shown)
    return not _renderings(returned).isdisjoint(readings) or _is_cut_of(returned, readings)


def _judge(
    row: Row, chain: Links, one: ResultShown, runs_of: Mapping[Rendering, Iterable[str]]
) -> None:
    runs = [entry.call for entry in chain.at(Boundary.EXECUTOR)]
    if not runs or not isinstance(runs[0], Execution):
        return
    run = runs[0]
    readings = _readings(one.shown)
    failed = run.error is not None
    if one.returned_observed:
        returned = one.returned
        same = is_same_result(returned, one.shown)
    else:
        returned = run.result
        same = any(isinstance(run, Execution) and _is_shown(run, one, readings) for run in runs)
    own = {run.ref for run in runs}
    swapped = not one.returned_observed and any(
        ref not in own for reading in readings for ref in runs_of.get(reading, ())
    )
    if not same and not swapped and _holds_digest(run, returned, one):
        same = _is_rendering(returned, one.shown) or undecided(
            f"what the model was told of the call {chain.key}"
        )
    if same or (failed and not one.returned_observed and (one.is_error or _tells_error(run, one))):
        return
    if failed or one.is_error:
        kind: Kind = Kind.ERROR_HIDDEN
    else:
        kind = Kind.RESULT_SWAPPED if swapped else Kind.RESULT_CHANGED
    row.note(
        chain,
        Boundary.EXECUTOR,
        kind,
        Owner.ADAPTER,
        before=run.error if failed and not one.returned_observed else returned,
        after=one.shown,
        later=0.5,
    )


def _holds_digest(run: ToolCall, returned: JsonValue, one: ResultShown) -> bool:
    return bool(key_ids([returned, one.shown])) or "[digest:" in (run.error or "")


def _is_rendering(returned: JsonValue, shown: JsonValue) -> bool:
    """Whether digests show that one is the other's text."""
    kinds = {digest_kind(returned, shown)}
    return kinds <= {Kind.NESTED, Kind.TYPE_COERCED} and is_respelled(returned, shown)


def _is_shown(run: Execution, one: ResultShown, readings: set[Rendering]) -> bool:
    """Whether a run's own result was shown; of a failed one, nothing but its record as it is."""
    if not run.result_observed:
        return run.error is None
    if run.error is not None:
        return canonical(run.result) == canonical(one.shown)
    return not readings.isdisjoint(_renderings(run.result)) or _is_cut_of(run.result, readings)


def _renderings(returned: JsonValue) -> set[Rendering]:
    """The forms in which a result may be handed on."""
    found = {("json", canonical(returned))}
    if isinstance(returned, str):
        found.add(("text", returned.strip()))
        value = _written_in(returned)
        if value is not None:
            found.add(("json", canonical(value)))
    else:
        # Where a number is too long or a value too deep, nobody's `str` got through either.
        try:  # noqa: SIM105 - contextlib is loaded for nothing else
            found.add(("text", str(returned)))
        except (ValueError, RecursionError):
            pass
    return found


def _written_in(text: str) -> JsonValue:
    """The object or list that a text is JSON of, which it may be spelled anew from; else None."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text).value
    except JsonTextError:
        return None


def _is_cut_of(returned: JsonValue, readings: Iterable[Rendering]) -> bool:
    """Whether a text was shown that leaves out a part of the result and says that it does."""
    for form, text in readings:
        parts = _around_cut(text) if form == "text" else None
        if parts is None:
            continue
        start, end = parts
        for whole in _texts_of(returned):
            is_shorter = len(start) + len(end) < len(whole)
            if is_shorter and whole.startswith(start) and whole.endswith(end):
                return True
        if _is_of_its_words(returned, start, end):
            return True
    return False


def _is_of_its_words(returned: JsonValue, start: str, end: str) -> bool:
    """Whether what is left of a cut text may be JSON of the result with its keys in any order.

    The record does not say in which order they were written. So each whole word of the text must
    be one of the result's; the two beside the cut may be parts of words.
    """
    value = _written_in(returned) if isinstance(returned, str) else returned
    if not isinstance(value, Mapping | list | tuple) or start[:1] not in ("{", "["):
        return False
    words = Counter(_WORD.findall(start)[:-1] + _WORD.findall(end)[1:])
    wholes = (json.dumps(value, ensure_ascii=ascii_only) for ascii_only in (True, False))
    return any(words < Counter(_WORD.findall(whole)) for whole in wholes)


def _around_cut(text: str) -> tuple[str, str] | None:
    """What stands before and after the mark of a cut; None where there is none, or nothing else."""
    note = _CUT_NOTE.search(text)
    if note is not None:
        start, end = text[: note.start()].rstrip(), text[note.end() :].lstrip()
    elif text.endswith(_ELLIPSES):
        start, end = text.removesuffix("\u2026").removesuffix("...").rstrip(), ""
    else:
        return None
    return (start, end) if start else None


def _texts_of(returned: JsonValue) -> Iterator[str]:
    """The texts that a result may have been cut from."""
    if isinstance(returned, str):
        yield returned.strip()
        return
    texts = []
    try:
        texts.append(str(returned))
        texts.append(json.dumps(returned))
        texts.append(json.dumps(returned, separators=(",", ":")))
    except (ValueError, RecursionError):
        pass  # what could be written is looked at
    yield from texts


def _readings(shown: JsonValue) -> set[Rendering]:
    """The results that what was shown may stand for."""
    found = {("json", canonical(shown))}
    text = _content_text(shown) if isinstance(shown, list | tuple) else shown
    if isinstance(text, str):
        found |= {("text", text.strip()), ("json", canonical(text))}
        try:  # noqa: SIM105 - as above
            found.add(("json", canonical(parse_json(text).value)))
        except JsonTextError:
            pass
    return found


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


def _tells_error(run: ToolCall, one: ResultShown) -> bool:
    """Whether what was shown lets the model know that the run failed."""
    text = one.shown if isinstance(one.shown, str) else dump_json(one.shown)
    error = run.error or ""
    message = error.partition(": ")[2] or error
    if message and message.casefold() in text.casefold():
        return True
    answers = list(_objects(one.shown, text))
    if answers:
        return any(_states_error(answer) for answer in answers)
    return _ERROR_WORDS.search(_NO_ERROR.sub("", text[:_LONGEST])) is not None


def _objects(shown: JsonValue, text: str) -> Iterator[Mapping[str, JsonValue]]:
    if isinstance(shown, Mapping):
        yield shown
    elif isinstance(shown, str):
        try:
            value = parse_json(text).value
        except JsonTextError:
            return
        if isinstance(value, Mapping):
            yield value


def _states_error(answer: Mapping[str, JsonValue]) -> bool:
    if answer.get("ok") is False or answer.get("success") is False:
        return True
    return any(
        bool(value)
        and (
            "error" in key.casefold() or _ERROR_WORDS.search(_NO_ERROR.sub("", f"{value!s:.1000}"))
        )
        for key, value in answer.items()
    )


def _model_chains(
    row: Row,
) -> tuple[dict[tuple[int | None, int | None], Links], dict[str, Links]]:
    by_ref = {entry.call.ref: c for c in row.chains for entry in c.at(Boundary.MODEL)}
    places: dict[int | None, int] = defaultdict(int)
    by_place: dict[tuple[int | None, int | None], Links] = {}
    by_id: dict[str, Links] = {}
    for _, call in in_causal_order(row.evidence, Boundary.MODEL):
        chain = by_ref.get(call.ref)
        if chain is not None:  # a record where nothing is said to be observed is in none
            by_place[call.turn, places[call.turn]] = chain
            if call.call_id is not None:
                by_id[canonical(call.call_id)] = chain
        places[call.turn] += 1
    return by_place, by_id
