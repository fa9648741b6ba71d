"""Editing the parsed lines of an evidence file: what a fault of the run itself would have written.

A fault leaves whole evidence behind. So whoever takes a record out, or puts one in, closes with
`finish`: numbers without a gap, and a manifest and responses that count what is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from bench._localise_script import (
    MAIN,
    TOOLS,
    Script,
    digest,
    dump,
    hexed,
    manifest_of,
    size,
    take_places,
)

Json = Any
Record = dict[str, Any]
Place = tuple[int, int]
_KINDS = {"model": "call", "adapter": "adapt", "executor": "execution"}


class Artifact:
    """One run's evidence file, as the JSON values of its lines."""

    def __init__(self, script: Script, lines: list[str]) -> None:
        self.script = script
        self.headers: dict[str, Json] = {}
        self.sections: dict[str, list[Record]] = {}
        self.broken: tuple[str, float] | None = None
        """Span of the record whose line ends too early, and how much of it there is."""
        for line in lines:
            value = json.loads(line)
            if "agenttrace" in value:
                recorder = value["agenttrace"]["recorder"]
                self.headers[recorder] = value
                self.sections[recorder] = []
            else:
                self.sections[value["recorder_id"]].append(value)

    def lines(self) -> list[str]:
        """The lines as they stand now."""
        made = []
        for recorder, section in self.sections.items():
            records = section
            if self.script.style.is_bare:
                records = deepcopy(section)
                take_places(records)
            made += [self.headers[recorder], *records]
        texts = [json.dumps(value, sort_keys=True, separators=(",", ":")) for value in made]
        if self.broken is not None:
            span, share = self.broken
            at = next(n for n, value in enumerate(made) if value.get("span_id") == span)
            texts[at] = texts[at][: int(share * len(texts[at]))]
        return texts

    def __iter__(self) -> Iterator[Record]:
        return (record for section in self.sections.values() for record in section)

    @property
    def tools(self) -> list[Record]:
        """The section that executions stand in."""
        return self.sections[TOOLS if TOOLS in self.sections else MAIN]

    @property
    def main(self) -> list[Record]:
        """The section of the agent's own process."""
        return self.sections[MAIN]

    def at(self, boundary: str, place: Place) -> Record:
        """The record of one call at one boundary."""
        kind = _KINDS[boundary]
        return next(
            record for record in self if record["kind"] == kind and place_of(record) == place
        )

    def response(self, turn: int) -> Record:
        """The response of a turn."""
        return next(r for r in self if r["kind"] == "response" and r["payload"]["turn"] == turn)

    def shown(self, place: Place) -> Record | None:
        """The event that says what the model was shown of a call; None after the last turn."""
        for record in self.main:
            data = record["payload"].get("data", {})
            if record["kind"] == "event" and (data.get("turn"), data.get("position")) == place:
                return record
        return None

    def message(self, place: Place) -> Json:
        """The tool message that answers a call; None after the last turn."""
        if self.shown(place) is None:
            return None
        told = self.response(place[0] + 1)["payload"]["messages"]
        return [one for one in told if one["role"] == "tool"][place[1]]

    def show(self, place: Place, shown: Json, *, is_error: bool | None = None) -> None:
        """Have the model shown something else of a call."""
        event, message = self.shown(place), self.message(place)
        if event is None:
            return
        event["payload"]["data"]["shown"] = shown
        message["content"] = shown
        if is_error is not None:
            event["payload"]["data"]["is_error"] = message["is_error"] = is_error

    def ends(self) -> list[Record]:
        """The manifest of each recorder."""
        return [record for record in self if record["kind"] == "run"]

    def insert_after(self, record: Record, new: Record) -> Record:
        """Put a record behind another one, in its section and in the order of the run."""
        section = self.sections[record["recorder_id"]]
        section.insert(_index(section, record) + 1, new)
        if "seq" in record["payload"] and new["kind"] in ("call", "adapt", "execution"):
            new["payload"]["seq"] = record["payload"]["seq"] + 0.25
        return new

    def append_run(self, new: Record) -> Record:
        """Put an execution behind all others of its recorder."""
        tools = self.tools
        last = max((n for n, record in enumerate(tools) if record["kind"] != "run"), default=-1)
        tools.insert(last + 1, new)
        everything = [record["payload"].get("seq", 0) for record in self]
        new["payload"]["seq"] = max(everything) + 1
        return new

    def remove(self, record: Record) -> None:
        """Take a record out."""
        section = self.sections[record["recorder_id"]]
        del section[_index(section, record)]

    def remove_call(self, place: Place) -> None:
        """Take a call out altogether, as if the model had never asked for it."""
        message = self.message(place)
        if message is not None:
            told = self.response(place[0] + 1)["payload"]["messages"]
            del told[next(n for n, one in enumerate(told) if one is message)]
        gone = [self.at(boundary, place) for boundary in _KINDS]
        event = self.shown(place)
        for record in gone if event is None else [*gone, event]:
            self.remove(record)
        for record in self:
            payload = record["payload"]
            if record["kind"] in _KINDS.values() and payload.get("turn") == place[0]:
                payload["index"] -= payload["index"] > place[1]
            data = payload.get("data", {})
            if record["kind"] == "event" and data.get("turn") == place[0]:
                data["position"] -= data["position"] > place[1]
        self.finish()
        self._set_finish_reason(place[0])

    def add_call(self, turn: int, *, key: str, name: str, args: Json, result: Json) -> Place:
        """Have the model ask for one more call at the end of a response, which then runs."""
        calls = [r for r in self.main if r["kind"] == "call" and r["payload"]["turn"] == turn]
        place = turn, len(calls)
        pattern = [self.at(b, (turn, len(calls) - 1)) for b in _KINDS]
        made = []
        for record, behind in zip(pattern, (pattern[0], pattern[1], pattern[2]), strict=True):
            new = self.copied(record, (record["kind"], key))
            new["payload"]["index"] = place[1]
            new["payload"]["name"] = name
            if "call_id" in new["payload"]:
                new["payload"]["call_id"] = key
            set_args(new, args)
            made.append(self._behind(behind, new))
        if "link" in made[1]["payload"]:
            made[1]["payload"]["link"] = ref(made[0])
            made[2]["payload"]["link"] = ref(made[1])
        made[2]["payload"]["result"] = result
        event, message = self.shown((turn, place[1] - 1)), self.message((turn, place[1] - 1))
        if event is not None:
            new = self.copied(event, ("shown", key))
            data = new["payload"]["data"]
            data["position"], data["shown"] = place[1], result
            told = self.response(turn + 1)["payload"]["messages"]
            answer = {**message, "content": result, "tool": name}
            if "call_id" in data:
                data["call_id"] = answer["call_id"] = key
            at = next(n for n, one in enumerate(told) if one is message)
            told.insert(at + 1, answer)
            self.insert_after(event, new)
        self.finish()
        return place

    def _behind(self, record: Record, new: Record) -> Record:
        """Behind the last record of the turn: a call after its calls, the rest after all."""
        turn = record["payload"]["turn"]
        section = self.sections[record["recorder_id"]]
        kinds = ("call",) if new["kind"] == "call" else ("adapt", "execution")
        same = [
            one for one in section if one["kind"] in kinds and one["payload"].get("turn") == turn
        ]
        order = [
            one["payload"]["seq"]
            for one in self
            if one["kind"] in kinds and one["payload"].get("turn") == turn
        ]
        section.insert(_index(section, same[-1]) + 1, new)
        new["payload"]["seq"] = max(order) + 0.01
        return new

    def copied(self, record: Record, key: tuple[object, ...]) -> Record:
        """A copy of a record under a span of its own."""
        new = deepcopy(record)
        new["span_id"] = hexed(16, self.script.run_id, *key)
        return new

    def finish(self) -> None:
        """Number all records anew and have manifests and responses count what is there."""
        ordered = sorted((r for r in self if "seq" in r["payload"]), key=_causal)
        for number, record in enumerate(ordered, 1):
            record["payload"]["seq"] = number
        calls: dict[int, int] = {}
        for record in self.main:
            if record["kind"] == "call":
                turn = record["payload"]["turn"]
                calls[turn] = calls.get(turn, 0) + 1
        for section in self.sections.values():
            for number, record in enumerate(section, 1):
                record["seq"] = record["start_ns"] = number
                record["end_ns"] = number + 1
                if record["kind"] == "response":
                    if record["payload"].get("messages") == []:
                        del record["payload"]["messages"]
                    held = calls.get(record["payload"]["turn"], 0)
                    record["payload"].pop("calls", None)
                    if held:
                        record["payload"]["calls"] = held
            for record in section:
                if record["kind"] == "run":
                    record["payload"]["manifest"].update(
                        manifest_of(record["recorder_id"], section)
                    )

    def _set_finish_reason(self, turn: int) -> None:
        response = self.response(turn)["payload"]
        if not response.get("calls"):
            response["finish_reason"] = "stop"


def place_of(record: Record) -> Place:
    """Turn and index of a call's record."""
    payload = record["payload"]
    return payload.get("turn"), payload.get("index")


def ref(record: Record) -> str:
    """The reference of a record."""
    return f"{record['trace_id']}-{record['span_id']}"


def set_args(record: Record, args: Json) -> None:
    """Give a record other arguments, with all that a recorder would have noted of them."""
    payload = record["payload"]
    payload["arguments"] = args
    payload["digest"], payload["length"] = digest(args), size(args)
    if record["kind"] == "call":
        payload["raw"] = dump(args)
        payload["raw_length"] = len(payload["raw"])
    if record["kind"] == "execution":
        payload["exit_digest"] = digest(args)


def set_text(record: Record, raw: str, *, complete: bool, finish_reason: str) -> None:
    """Give the model's record text that is no JSON object."""
    payload = record["payload"]
    for name in ("arguments", "digest", "length"):
        payload.pop(name, None)
    payload["raw"], payload["raw_length"] = raw, len(raw)
    payload["complete"], payload["finish_reason"] = complete, finish_reason


def refuse(record: Record, message: str) -> None:
    """Have an adapter refuse a call."""
    payload = record["payload"]
    for name in ("arguments", "digest", "length"):
        payload.pop(name, None)
    payload["error"], payload["error_type"] = f"ValueError: {message}", "ValueError"


def _index(section: list[Record], record: Record) -> int:
    return next(n for n, one in enumerate(section) if one is record)


def _causal(record: Record) -> tuple[float, int]:
    return record["payload"]["seq"], record["seq"]


def fail(run: dict[str, Json], kind: str, message: str) -> None:
    """Have a run end with an exception."""
    for name in ("result", "exit_digest"):
        run.pop(name, None)
    run.update(error=f"{kind}: {message}", error_type=kind, ending="raised", result_observed=False)
