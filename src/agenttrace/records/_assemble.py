"""Records of one run, by any number of recorders and carriers, to Evidence.

Records may come in any order and twice: transports resend what was not acknowledged. Equal copies
are dropped; unequal ones under one reference are kept as a conflict, for the scorer to refuse.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agenttrace._dataclass import replace
from agenttrace.domain import (
    ALL,
    BOUNDARIES,
    Boundary,
    Completeness,
    DuplicateRecord,
    Evidence,
    Execution,
    Integrity,
    JsonObject,
    Masking,
    Observed,
    Ownership,
    Response,
    Run,
    StatusReport,
    ToolCall,
    ToolContract,
    Tools,
    UnusableRecord,
)
from agenttrace.records._codec import record_to_plain
from agenttrace.records._events import read_events
from agenttrace.records._json_dump import dump_json
from agenttrace.records._record import Event, Record, RecordKind, RunEnd, ToolSchema


def evidence_digest(records: Iterable[Record]) -> str:
    """SHA-256 over the canonical records of one run, whatever order and file they came in.

    Texts that stay in local evidence take no part, so that a run rebuilt from a collector has the
    digest of the run recorded in process.
    """
    lines = {dump_json(record_to_plain(record, content=False)) for record in records}
    digest = hashlib.sha256()
    for line in sorted(lines):
        digest.update(line.encode("ascii") + b"\n")
    return "sha256:" + digest.hexdigest()


def assemble(records: Sequence[Record], unusable: Sequence[UnusableRecord] = ()) -> Evidence:
    """Build the evidence of one run from its records.

    Args:
        records: All records of one run id; at least one.
        unusable: What came for the run and could not be read.

    Raises:
        ValueError: There is no record, or they belong to several runs.
    """
    kept, conflicts = _deduplicated(records)
    runs = {record.run.run_id for record in kept}
    if len(runs) != 1:
        raise ValueError(f"records of one run are needed, not of {len(runs)}")
    kept.sort(key=lambda record: (_order(record), record.recorder_id, record.seq, record.ref))
    unusable = sorted(set(unusable), key=repr)
    responses = [r.payload for r in kept if isinstance(r.payload, Response)]
    calls: dict[Boundary, list[ToolCall]] = {boundary: [] for boundary in BOUNDARIES}
    for record in kept:
        if isinstance(record.payload, ToolCall):
            calls[record.payload.boundary].append(record.payload)
    ends = _last_ends(kept)
    events = [r.payload for r in kept if isinstance(r.payload, Event)]
    schemas = [r.payload for r in kept if isinstance(r.payload, ToolSchema)]
    told = read_events(events)
    return Evidence(
        run=_run(kept),
        observed=_observed(ends, calls, responses),
        responses=tuple(responses),
        model=tuple(calls[Boundary.MODEL]),
        adapter=tuple(calls[Boundary.ADAPTER]),
        executor=tuple(c for c in calls[Boundary.EXECUTOR] if isinstance(c, Execution)),
        completeness=_completeness(
            kept,
            ends,
            responses,
            unusable=unusable,
            conflicts=conflicts,
            statuses=told.statuses,
        ),
        ownership=_ownership(kept, ends, told.ownership),
        integrity=Integrity(masking=_masking(ends)),
        conduct=told.conduct,
        outcome=replace(
            told.outcome,
            messages=told.outcome.messages or tuple(m for r in responses for m in r.messages),
        ),
        tools=_tools(responses, schemas, ends, told.tools),
        digest=evidence_digest(kept),
    )


def _deduplicated(records: Iterable[Record]) -> tuple[list[Record], tuple[str, ...]]:
    """One record for each reference, the same one whatever order the copies came in."""
    kept: dict[str, Record] = {}
    conflicts: set[str] = set()
    copies: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.ref in kept:
            copies[record.ref].append(record)
        kept.setdefault(record.ref, record)
    for ref, others in copies.items():
        same = [kept[ref], *others]
        # A copy that came by a collector lacks the texts that stay in local evidence.
        kept[ref] = max(same, key=_fullness)
        texts = {dump_json(record_to_plain(one, content=False)) for one in same}
        # A run that settled again sends a new revision of its manifest.
        if len(texts) > 1 and kept[ref].kind is not RecordKind.RUN:
            conflicts.add(ref)
    numbers: dict[tuple[str, int], str] = {}
    for ref in sorted(kept):
        # A recorder gives each number of a run once: one of the two is of another run.
        place = kept[ref].recorder_id, kept[ref].seq
        if numbers.setdefault(place, ref) != ref:
            conflicts.add(ref)
    return list(kept.values()), tuple(sorted(conflicts))


def _fullness(record: Record) -> tuple[tuple[int, int], int, str]:
    text = dump_json(record_to_plain(record))
    return _revision(record), len(text), text


def _revision(record: Record) -> tuple[int, int]:
    if not isinstance(record.payload, RunEnd):
        return 0, 0
    return record.payload.manifest.revision, record.payload.manifest.last_seq


def _order(record: Record) -> int:
    seq = getattr(record.payload, "seq", None)
    return record.seq if seq is None else int(seq)


def _run(records: Sequence[Record]) -> Run:
    """The fullest account of the run: a recorder in another process may know only its id."""
    return max(
        (record.run for record in records),
        key=lambda run: (run.case_id is not None, run.agent_version is not None, run.attempt),
    )


def _last_ends(records: Sequence[Record]) -> dict[str, RunEnd]:
    ends: dict[str, RunEnd] = {}
    for record in records:
        if isinstance(record.payload, RunEnd):
            known = ends.get(record.recorder_id)
            if known is None or record.payload.manifest.revision >= known.manifest.revision:
                ends[record.recorder_id] = record.payload
    return ends


def _observed(
    ends: Mapping[str, RunEnd],
    calls: Mapping[Boundary, Sequence[ToolCall]],
    responses: Sequence[Response],
) -> dict[Boundary, Observed]:
    observed = {}
    for boundary in BOUNDARIES:
        tools = {call.name for call in calls[boundary]}
        everything = boundary is Boundary.MODEL and bool(responses)
        for end in ends.values():
            if boundary.value in end.manifest.observes:
                seen = end.manifest.observes[boundary.value]
                everything = everything or seen is None
                tools |= set(seen or ())
        observed[boundary] = ALL if everything else Observed(tools=frozenset(tools))
    return observed


def _completeness(
    records: Sequence[Record],
    ends: Mapping[str, RunEnd],
    responses: Sequence[Response],
    *,
    unusable: Sequence[UnusableRecord],
    conflicts: tuple[str, ...],
    statuses: tuple[StatusReport, ...],
) -> Completeness:
    lost: dict[str, int] = defaultdict(int)
    made: dict[Boundary, int] = dict.fromkeys(BOUNDARIES, 0)
    for end in ends.values():
        for cause, count in end.manifest.lost.items():
            lost[cause] += count
        for name, count in end.manifest.made.items():
            if name in set(Boundary):
                made[Boundary(name)] += count
    for name, count in _missing_kinds(records, ends).items():
        lost[name] += count
    missing, last = _holes(records, ends)
    recorders = {record.recorder_id for record in records}
    return Completeness(
        responses_recorded=len(responses),
        requests_made=sum(e.manifest.made.get("request", 0) for e in ends.values()) or None,
        settled=bool(ends)
        and recorders <= set(ends)
        and all(end.manifest.settled for end in ends.values())
        and not any(_is_beyond(record, ends) for record in records),
        made=made if ends else None,
        last_seq=last,
        missing_seqs=missing,
        truncated=tuple(
            "an unnamed call" if u.call_id is None else str(u.call_id)
            for u in unusable
            if "cut" in u.reason
        ),
        duplicates=_double_recordings(records),
        unusable=tuple(unusable),
        statuses=statuses,
        lost=dict(lost),
        conflicts=conflicts,
        unfinished=tuple(
            f"{name}: {end.manifest.open_executions}"
            for name, end in ends.items()
            if end.manifest.open_executions
        ),
    )


def _missing_kinds(records: Sequence[Record], ends: Mapping[str, RunEnd]) -> dict[str, int]:
    """Records that are no calls, made and not arrived: an approval or a schema may decide."""
    arrived: dict[str, int] = defaultdict(int)
    for record in records:
        arrived[record.kind.value] += 1
    missing = {}
    for kind in (RecordKind.RESPONSE, RecordKind.EVENT, RecordKind.SCHEMA):
        made = sum(end.manifest.made.get(kind.value, 0) for end in ends.values())
        if made > arrived[kind.value]:
            missing[f"{kind.value} not arrived"] = made - arrived[kind.value]
    return missing


def _holes(
    records: Sequence[Record], ends: Mapping[str, RunEnd]
) -> tuple[tuple[int, ...], int | None]:
    """Numbers that never came, over all recorders, and the highest number any of them gave."""
    seen: dict[str, set[int]] = defaultdict(set)
    for record in records:
        seen[record.recorder_id].add(record.seq)
    missing: list[int] = []
    last = 0
    for recorder, numbers in seen.items():
        end = ends.get(recorder)
        highest = max(*numbers, end.manifest.last_seq if end else 0)
        last = max(last, highest)
        if len(numbers) < highest:
            missing += [n for n in range(1, highest + 1) if n not in numbers][:1000]
    return tuple(missing), last or None


def _double_recordings(records: Sequence[Record]) -> tuple[DuplicateRecord, ...]:
    """Responses that two recorders, or one recorder twice, hold under one provider's id."""
    by_id: dict[tuple[str, str | None], list[Record]] = defaultdict(list)
    for record in records:
        payload = record.payload
        if isinstance(payload, Response) and payload.response_id and payload.request_id:
            by_id[payload.response_id, payload.request_id].append(record)
    return tuple(
        DuplicateRecord(
            boundary=Boundary.MODEL,
            recorders=tuple(sorted({r.recorder_id for r in same})),
            response_ids=(response_id,),
        )
        for (response_id, _), same in by_id.items()
        if len(same) > 1
    )


def _is_beyond(record: Record, ends: Mapping[str, RunEnd]) -> bool:
    """Whether a record is newer than the newest manifest that its recorder sent of the run."""
    end = ends.get(record.recorder_id)
    return end is not None and record.seq > end.manifest.last_seq


def _ownership(records: Sequence[Record], ends: Mapping[str, RunEnd], told: Ownership) -> Ownership:
    own = _run(records).case_id
    cases = {record.run.case_id for record in records} - {None, own}
    listed = [end.manifest.requests for end in ends.values()]
    known = tuple(one for requests in listed for one in requests or ())
    recorders = {record.recorder_id for record in records}
    is_known = bool(ends) and None not in listed and recorders <= set(ends)
    late = any(_is_beyond(record, ends) for record in records)
    return replace(
        told,
        case_id_in_trace=told.case_id_in_trace or min(filter(None, cases), default=own),
        requests_of_case=known if is_known and not late else None,
        foreign_requests=tuple(
            dict.fromkeys(
                record.payload.request_id
                for record in records
                if isinstance(record.payload, Response | ToolCall)
                and record.payload.request_id is not None
                and record.payload.request_id not in known
                and not _is_beyond(record, ends)
                and (is_known or _would_list(record, ends))
            )
        ),
    )


def _would_list(record: Record, ends: Mapping[str, RunEnd]) -> bool:
    """Whether the manifest of the record's own recorder would list the request it answers.

    A response and its calls are recorded by whoever made the request; a tool may run elsewhere.
    """
    end = ends.get(record.recorder_id)
    at_model = record.kind in (RecordKind.RESPONSE, RecordKind.CALL)
    return at_model and end is not None and end.manifest.requests is not None


def _masking(ends: Mapping[str, RunEnd]) -> Masking | None:
    return next((end.masking for end in ends.values() if end.masking is not None), None)


def _tools(
    responses: Sequence[Response],
    schemas: Sequence[ToolSchema],
    ends: Mapping[str, RunEnd],
    told: Tools,
) -> Tools:
    offered = [name for r in responses for name in r.tools_offered or ()]
    seen = any(r.tools_offered is not None for r in responses)
    by_tool: dict[str, JsonObject] = {}
    for one in schemas:
        by_tool.setdefault(one.tool, one.schema)
    contracts: dict[str, ToolContract] = {}
    signatures: dict[str, JsonObject] = {}
    for _, end in sorted(ends.items()):
        contracts = {**end.contracts, **contracts}
        signatures = {**end.signatures, **signatures}
    return replace(
        told,
        offered=tuple(dict.fromkeys(offered)) if seen else told.offered,
        schemas={**by_tool, **told.schemas},
        contracts=contracts,
        signatures=signatures,
    )
