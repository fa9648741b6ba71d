"""A run as a script, and the lines of the evidence file that our recorders would write of it.

Every id, span and number follows from the script alone, so that two equal scripts give equal
bytes. Nothing goes wrong between the model and the tool: faults are put in elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from agenttrace.artifacts import artifact_lines
from agenttrace.records import record_from_plain

Json = Any
MAIN, TOOLS = "rec-1", "rec-2"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a run, and what came back."""

    key: str
    """Tells it from every other call of its run; the recorded ids do not always."""
    call_id: str
    name: str
    raw: str
    result: Json
    """What the model was shown of it; the tool returned the same."""

    @property
    def args(self) -> dict[str, Json]:
        """The arguments that the text holds."""
        found: dict[str, Json] = json.loads(self.raw)
        return found


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One response: its calls, its text, and what the model was told before it."""

    response_id: str
    calls: tuple[Call, ...] = ()
    text: str | None = None
    told: tuple[dict[str, Json], ...] = ()
    """Messages of the request that are no results."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a run was recorded; all styles hold the same run."""

    has_ids: bool = True
    has_links: bool = True
    has_two_recorders: bool = False
    """The tools ran in a process of their own."""
    is_parsed: bool = False
    """Tools returned objects, and their JSON text was shown; else they returned the text."""

    @property
    def is_bare(self) -> bool:
        """Nothing on an adapter's or executor's record says which call it is."""
        return not (self.has_ids or self.has_links)


STYLES = (
    Style(),
    Style(has_links=False),
    Style(has_ids=False),
    Style(has_two_recorders=True),
    Style(is_parsed=True),
    Style(has_links=False, has_two_recorders=True, is_parsed=True),
    Style(has_links=False, has_ids=False),
)


@dataclass(frozen=True, kw_only=True)
class Script:
    """One run."""

    case_id: str
    tools: tuple[str, ...]
    """Tools of the program: offered to the model, and seen at the executor."""
    turns: tuple[Turn, ...]
    style: Style = Style()
    outside: tuple[tuple[str, str, dict[str, Json], Json], ...] = ()
    """Phase, tool, arguments and result of runs in set-up and evaluation."""
    schemas: dict[str, Json] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """Id of the run."""
        return f"run/{self.case_id}"

    def places(self) -> list[tuple[int, int]]:
        """Turn and index of every call."""
        return [(t, i) for t, turn in enumerate(self.turns, 1) for i in range(len(turn.calls))]

    def call(self, place: tuple[int, int]) -> Call:
        """The call at a place."""
        return self.turns[place[0] - 1].calls[place[1]]

    def with_call(self, place: tuple[int, int], *calls: Call) -> Script:
        """The run with other calls in place of one."""
        turns = list(self.turns)
        turn = turns[place[0] - 1]
        kept = (*turn.calls[: place[1]], *calls, *turn.calls[place[1] + 1 :])
        turns[place[0] - 1] = replace(turn, calls=kept)
        return replace(self, turns=tuple(turns))

    def lines(self, *, is_placed: bool = False) -> list[str]:
        """The run as the lines of an evidence file.

        Args:
            is_placed: Every record keeps its turn and index, for whoever looks a call up.
        """
        records = _Writer(self).records()
        if self.style.is_bare and not is_placed:
            take_places(records)
        return list(artifact_lines(map(record_from_plain, records)))


def take_places(records: Iterable[dict[str, Json]]) -> None:
    """Take off adapter's and executor's records what they know of a call by its id or link."""
    for record in records:
        if record["kind"] in ("adapt", "execution"):
            for name in ("response_id", "request_id", "turn", "index"):
                record["payload"].pop(name, None)


def dump(value: Json) -> str:
    """JSON text as providers write it."""
    return json.dumps(value, separators=(",", ":"))


def digest(value: Json) -> str:
    """A digest of a value, of the shape that recorders give theirs."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return "hmac-sha256:00000000:" + hashlib.sha256(text.encode()).hexdigest()


def size(value: Json) -> int:
    """Bytes of a value's canonical text."""
    return len(json.dumps(value, sort_keys=True, separators=(",", ":")))


def hexed(digits: int, *parts: object) -> str:
    """An id that follows from its parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:digits]


class _Writer:
    """Writes the records of one script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.style = script.style
        self.trace = hexed(32, script.run_id)
        self.sections: dict[str, list[dict[str, Json]]] = {MAIN: []}
        if self.style.has_two_recorders:
            self.sections[TOOLS] = []
        self.clock = 0

    def records(self) -> list[dict[str, Json]]:
        script = self.script
        for tool, schema in script.schemas.items():
            about = {"tool": tool, "schema": schema, "digest": digest(schema), "boundary": "model"}
            self.add(MAIN, "schema", ("schema", tool), about)
        self.outside("setup")
        last: tuple[int, Turn] | None = None
        for number, turn in enumerate(script.turns, 1):
            if last is not None:
                self.shown(*last)
            self.turn(number, turn, last[1] if last else None)
            last = number, turn
        self.outside("evaluation")
        if last is not None and last[1].text is not None:
            self.add(MAIN, "event", ("output",), {"name": "output", "local": {"value": "Done."}})
        requests = [f"req-{turn.response_id}" for turn in script.turns]
        for recorder in self.sections:
            observes: dict[str, Json] = {}
            if recorder == MAIN:
                observes = {"model": None, "adapter": None}
            if recorder == list(self.sections)[-1]:
                observes["executor"] = list(script.tools)
            manifest = manifest_of(recorder, self.sections[recorder])
            manifest["observes"] = observes
            manifest["requests"] = requests if recorder == MAIN else []
            self.add(recorder, "run", ("run", recorder), {"manifest": manifest})
        return [record for section in self.sections.values() for record in section]

    def turn(self, number: int, turn: Turn, before: Turn | None) -> None:
        told = [{**message, "turn": number} for message in turn.told]
        for call in before.calls if before else ():
            named = {"call_id": call.call_id} if self.style.has_ids else {}
            result = {"role": "tool", "content": call.result, "turn": number, "tool": call.name}
            told.append({**result, **named})
        shared = {
            "response_id": turn.response_id,
            "request_id": f"req-{turn.response_id}",
            "turn": number,
            "finish_reason": "tool_calls" if turn.calls else "stop",
        }
        about = {
            **shared,
            "model": "recorded-model",
            "calls": len(turn.calls),
            "text_length": len((turn.text or "").encode()),
            "tools_offered": list(self.script.tools),
            "messages": told,
            "seq": self.tick(),
        }
        if turn.text:
            about["text"] = turn.text
        self.add(MAIN, "response", ("response", turn.response_id), about)
        for index, call in enumerate(turn.calls):
            self.call(index, call, shared)
        for index, call in enumerate(turn.calls):
            self.dispatch(index, call, shared)

    def call(self, index: int, call: Call, shared: dict[str, Json]) -> None:
        about = {
            **shared,
            **self.named(call),
            "name": call.name,
            "raw": call.raw,
            "raw_length": len(call.raw),
            "arguments": call.args,
            "digest": digest(call.args),
            "length": size(call.args),
            "complete": True,
            "index": index,
            "seq": self.tick(),
        }
        self.add(MAIN, "call", ("call", call.key), about)

    def dispatch(self, index: int, call: Call, shared: dict[str, Json]) -> None:
        about = {
            **{key: shared[key] for key in ("response_id", "request_id", "turn")},
            **self.named(call),
            "name": call.name,
            "arguments": call.args,
            "digest": digest(call.args),
            "length": size(call.args),
            "index": index,
        }
        linked = {"link": self.ref("call", call.key)} if self.style.has_links else {}
        self.add(MAIN, "adapt", ("adapt", call.key), {**about, **linked, "seq": self.tick()})
        linked = {"link": self.ref("adapt", call.key)} if self.style.has_links else {}
        ran = {
            **about,
            **linked,
            "exit_digest": digest(call.args),
            "result": returned(call.result, self.style),
            "seq": self.tick(),
        }
        recorder = list(self.sections)[-1]
        self.add(recorder, "execution", ("execution", call.key), ran)

    def shown(self, number: int, turn: Turn) -> None:
        for index, call in enumerate(turn.calls):
            data = {**self.named(call), "shown": call.result, "turn": number, "position": index}
            self.add(MAIN, "event", ("shown", call.key), {"name": "result_shown", "data": data})

    def outside(self, phase: str) -> None:
        for number, (when, tool, args, result) in enumerate(self.script.outside):
            if when == phase:
                about = {
                    "name": tool,
                    "arguments": args,
                    "digest": digest(args),
                    "exit_digest": digest(args),
                    "length": size(args),
                    "result": result,
                    "phase": phase,
                    "seq": self.tick(),
                }
                recorder = list(self.sections)[-1]
                self.add(recorder, "execution", ("outside", number), about)

    def named(self, call: Call) -> dict[str, Json]:
        return {"call_id": call.call_id} if self.style.has_ids else {}

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def ref(self, *parts: object) -> str:
        return f"{self.trace}-{hexed(16, self.script.run_id, *parts)}"

    def add(
        self, recorder: str, kind: str, key: tuple[object, ...], payload: dict[str, Json]
    ) -> None:
        section = self.sections[recorder]
        number = len(section) + 1
        section.append(
            {
                "kind": kind,
                "trace_id": self.trace,
                "span_id": hexed(16, self.script.run_id, *key),
                "run": {"run_id": self.script.run_id, "case_id": self.script.case_id},
                "recorder_id": recorder,
                "seq": number,
                "start_ns": number,
                "end_ns": number + 1,
                "payload": payload,
            }
        )


def manifest_of(recorder: str, records: list[dict[str, Json]]) -> dict[str, Json]:
    """What the manifest of a recorder says that made these records and then its own."""
    counted = {"call": "model", "adapt": "adapter", "execution": "executor"}
    made: dict[str, int] = {"model": 0, "adapter": 0, "executor": 0}
    for record in records:
        if record["kind"] != "run":
            name = str(counted.get(record["kind"], record["kind"]))
            made[name] = made.get(name, 0) + 1
    if "response" in made:
        made["request"] = made["response"]
    own = [record for record in records if record["kind"] != "run"]
    return {"recorder_id": recorder, "last_seq": len(own) + 1, "made": made}


def returned(result: Json, style: Style) -> Json:
    """What the tool returned, of which the model was shown this."""
    if not style.is_parsed or not isinstance(result, str):
        return result
    try:
        value = json.loads(result)
    except ValueError:
        return result
    return value if isinstance(value, dict | list) else result


PLANTED: tuple[tuple[str, Json], ...] = (
    ("starts_at", "2026-03-14T16:30:00+07:00"),
    ("due", "2026-11-30T08:05:00Z"),
    ("when", "2025-07-01T23:15:30"),
    ("price", 129.99),
    ("ratio", 0.375),
    ("amount_cents", 9800),
    ("account", 9007199254740993),
    ("ledger", 1234567890123456789),
    ("note", "Café Zoë, naïve façade"),
    ("label", "Å ｗide ﬁne print"),
    ("remark", "as agreed  with the\tcustomer"),
    ("comment", "Please call Back before Noon"),
    ("tags", ["red", "green", "blue"]),
    ("only", ["single"]),
    ("filter", {"status": "open", "limit": 25, "since": "2026-01-05T00:00:00Z"}),
    ("options", {"deep": {"name": "Zürich", "sizes": [1, 2, 3], "rate": 2.5}, "on": True}),
    ("enabled", True),
    ("code", "00417"),
    ("count", 3),
    ("a/b", "tilde~and/slash"),
)
"""Values that the recorded calls lack: one is put into a call at all boundaries, before a fault."""


def planted(script: Script, place: tuple[int, int], name: str, value: Json) -> Script:
    """The run in which the model asked for one argument more, and the tool was given it."""
    call = script.call(place)
    raw = dump({**call.args, name: deepcopy(value)})
    return script.with_call(place, replace(call, raw=raw))


def pick_style(script: Script, random: Random) -> Script:
    """The run in any style of recording."""
    return replace(script, style=random.choice(STYLES))
