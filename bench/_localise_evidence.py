"""Faults of the evidence: the run went well, and what is on record of it is not whole, or not its.

None of them may be blamed on anybody who took part in the run.
"""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

from bench._localise_due import Due, Fault
from bench._localise_edit import Artifact, Place, Record, ref
from bench._localise_script import hexed, manifest_of

Json = Any
INSTRUMENTATION = ("instrumentation", "instrumentation")
JOIN = ("join", "evaluation-platform")


def _lost(artifact: Artifact, place: Place, random: Random) -> Due:
    """One record never arrived; the manifest speaks of it."""
    artifact.remove(random.choice(list(artifact)))
    return Due(open=INSTRUMENTATION)


def _lost_kind(kind: str) -> Any:
    def inject(artifact: Artifact, place: Place, random: Random) -> Due | None:
        here = [record for record in artifact if record["kind"] == kind]
        if not here:
            return None
        artifact.remove(random.choice(here))
        return Due(open=INSTRUMENTATION)

    return inject


def _skipped_number(artifact: Artifact, place: Place, random: Random) -> Due:
    """A number was given to no record that arrived, and all that was counted is there."""
    section = random.choice(list(artifact.sections.values()))
    at = random.randrange(len(section))
    for record in section[at:]:
        record["seq"] += 1
    section[-1]["payload"]["manifest"]["last_seq"] += 1
    return Due()


def _uncounted_hole(artifact: Artifact, place: Place, random: Random) -> Due:
    """A number never came, and neither did the manifest that would say what it was."""
    section = artifact.main
    del section[-1]
    at = random.randrange(len(section))
    for record in section[at:]:
        record["seq"] += 1
    return Due(open=INSTRUMENTATION)


def _torn(artifact: Artifact, place: Place, random: Random) -> Due:
    """A line ends in the middle: whoever wrote it was stopped, or the disk was full."""
    record = random.choice([random.choice(list(artifact)), artifact.main[-1]])
    artifact.broken = record["span_id"], random.uniform(0.05, 0.95)
    return Due(open=INSTRUMENTATION)


def _foreign(artifact: Artifact, place: Place, random: Random) -> Due:
    """The response of another run, with its call, stands among the records."""
    turn = len(artifact.script.turns) + 1
    name = hexed(12, "foreign", random.random())
    taken = {"response_id": f"resp-{name}", "request_id": f"req-{name}", "turn": turn}
    response = artifact.copied(artifact.response(place[0]), ("response", name))
    call = artifact.copied(artifact.at("model", place), ("call", name))
    response["payload"].update(taken, calls=1, finish_reason="tool_calls")
    response["payload"].pop("messages", None)
    call["payload"].update(taken, index=0)
    if "call_id" in call["payload"]:
        call["payload"]["call_id"] = f"call_{name}"
    last = max(record["payload"].get("seq", 0) for record in artifact)
    records = [response, call][: random.choice([1, 2, 2])]
    response["payload"]["calls"] = len(records) - 1
    for number, record in enumerate(records, 1):
        record["trace_id"] = hexed(32, name)
        record["payload"]["seq"] = last + number
    if random.random() < 0.6:
        artifact.main[-1:-1] = records
        artifact.finish()
    else:
        # Another recorder's, which says itself that it made no request for this run.
        end = artifact.copied(artifact.main[-1], ("run", "rec-7"))
        manifest = {**manifest_of("rec-7", records), "observes": {"model": None}, "requests": []}
        end["payload"] = {"manifest": manifest}
        _append_section(artifact, "rec-7", [*records, end])
    return Due(open=JOIN)


def _append_section(artifact: Artifact, recorder: str, records: list[Record]) -> None:
    header = deepcopy(next(iter(artifact.headers.values())))
    header["agenttrace"]["recorder"] = recorder
    artifact.headers[recorder] = header
    artifact.sections[recorder] = records
    for number, record in enumerate(records, 1):
        record["recorder_id"] = recorder
        record["seq"] = number


def _sent_twice(artifact: Artifact, place: Place, random: Random) -> Due:
    """A transport sent records again that nobody had acknowledged."""
    for _ in range(random.choice([1, 1, 3])):
        section = random.choice(list(artifact.sections.values()))
        at = random.randrange(len(section))
        section.insert(random.randint(at, len(section)), deepcopy(section[at]))
    return Due()


def _sent_unequal(artifact: Artifact, place: Place, random: Random) -> Due:
    """Two records of one span that do not say the same."""
    record = artifact.at(random.choice(["model", "adapter", "executor"]), place)
    other = deepcopy(record)
    name, value = random.choice(
        [
            ("name", "another_tool"),
            ("arguments", {"other": 1}),
            ("agent", "helper"),
            ("error", "refused"),
        ]
    )
    other["payload"][name] = value
    section = artifact.sections[record["recorder_id"]]
    section.insert(random.randint(0, len(section)), other)
    return Due(open=INSTRUMENTATION)


def _recorded_twice(artifact: Artifact, place: Place, random: Random) -> Due:
    """A second recorder hooked the same client: each response it saw is on record twice."""
    turns = {place[0]} if random.random() < 0.5 else set(range(1, len(artifact.script.turns) + 1))
    copies = [
        artifact.copied(record, ("second", ref(record)))
        for record in artifact.main
        if record["kind"] in ("response", "call") and record["payload"]["turn"] in turns
    ]
    end = artifact.copied(artifact.main[-1], ("run", "rec-8"))
    _append_section(artifact, "rec-8", [*copies, end])
    manifest = manifest_of("rec-8", copies)
    manifest["observes"] = {"model": None}
    manifest["requests"] = [r["payload"]["request_id"] for r in copies if r["kind"] == "response"]
    end["payload"]["manifest"] = manifest
    return Due(open=INSTRUMENTATION)


def _hooked_late(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """The client was hooked after the first response that held calls; the tools were not."""
    turn = next(r["payload"]["turn"] for r in artifact if r["kind"] == "call")
    if not artifact.script.style.has_ids or turn == len(artifact.script.turns):
        return None
    for record in list(artifact):
        payload = record["payload"]
        if record["kind"] in ("response", "call") and payload["turn"] <= turn:
            artifact.remove(record)
        elif record["kind"] in ("adapt", "execution") and payload.get("turn") == turn:
            for name in ("response_id", "request_id", "turn", "index"):
                payload.pop(name)
            if record["kind"] == "adapt":
                payload.pop("link", None)
        elif record["kind"] == "event" and payload.get("data", {}).get("turn") == turn:
            artifact.remove(record)
    artifact.finish()
    gone = {f"req-{one.response_id}" for one in artifact.script.turns[:turn]}
    for end in artifact.ends():
        requests = end["payload"]["manifest"]["requests"]
        end["payload"]["manifest"]["requests"] = [one for one in requests if one not in gone]
    return Due(open=INSTRUMENTATION)


def _fault(kind: str, way: str, inject: Any, *, is_benign: bool = False) -> Fault:
    return Fault(
        kind=kind, boundary="evidence", way=way, inject=inject, is_benign=is_benign, pairs=False
    )


EVIDENCE_FAULTS: tuple[Fault, ...] = (
    _fault("record_lost", "any", _lost),
    *(
        _fault("record_lost", kind, _lost_kind(kind))
        for kind in ("response", "call", "adapt", "execution", "event", "run")
    ),
    _fault("number_skipped", "counted", _skipped_number, is_benign=True),
    _fault("number_skipped", "uncounted", _uncounted_hole),
    _fault("line_torn", "any", _torn),
    _fault("foreign_record", "model", _foreign),
    _fault("sent_twice", "equal", _sent_twice, is_benign=True),
    _fault("sent_twice", "unequal", _sent_unequal),
    _fault("recorded_twice", "model", _recorded_twice),
    _fault("hooked_late", "model", _hooked_late),
)
