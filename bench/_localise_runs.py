"""Real runs, recorded elsewhere, as scripts: turns, calls with their text, and results."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from bench._localise_script import STYLES, Call, Script, Turn, dump, hexed

Json = Any
SOURCES = (
    "tau_bench/gpt-4o-airline.jsonl.gz",
    "tau_bench/agentrx-retail.jsonl.gz",
    "tau_bench/preconditions-retail.jsonl.gz",
    "tau_bench/tau2-raw.jsonl.gz",
    "three_boundary/tau2_runtime.jsonl.gz",
    "api_bank/executed_calls.jsonl.gz",
)


def shared_folder() -> Path:
    """Where the recorded inputs lie.

    Raises:
        RuntimeError: They do not.
    """
    named = os.environ.get("AGENTTRACE_SHARED")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    missing = [name for name in SOURCES if not (folder / "data" / name).is_file()]
    if missing:
        raise RuntimeError(
            f"{folder}/data lacks {', '.join(missing)}. Nothing was measured. Set "
            "AGENTTRACE_SHARED to the folder that holds data/ with the recorded runs."
        )
    return folder


def scripts(folder: Path) -> list[Script]:
    """Every recorded run that holds a call and whose every argument text is a JSON object."""
    found: dict[str, Script] = {}
    for source in SOURCES:
        with gzip.open(folder / "data" / source, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        read = {"tau_bench": _chat, "three_boundary": _runtime, "api_bank": _dialogue}
        made = [one for row in rows if (one := read[source.split("/")[0]](row)) is not None]
        tools = tuple(sorted({call.name for one in made for call in _calls(one)}))
        for number, one in enumerate(made):
            if one.places():
                known = one.tools or tools
                style = STYLES[(number + len(source)) % len(STYLES)]
                whole = replace(one, tools=known, style=style)
                if number % 3 == 1:
                    whole = _in_parallel(whole)
                found.setdefault(one.case_id, whole)
    return list(found.values())


def _calls(script: Script) -> Iterator[Call]:
    return (call for turn in script.turns for call in turn.calls)


def _in_parallel(script: Script) -> Script:
    """The run with up to three of its calls, one after the other, asked for in one response."""
    turns: list[Turn] = []
    for turn in script.turns:
        last = turns[-1] if turns else None
        if last and last.calls and turn.calls and not turn.told and len(last.calls) < 3:
            turns[-1] = replace(last, calls=last.calls + turn.calls)
        else:
            turns.append(turn)
    return replace(script, turns=tuple(turns))


def _chat(row: dict[str, Json]) -> Script | None:
    """A conversation in OpenAI chat form."""
    turns: list[Turn] = []
    told: list[dict[str, Json]] = []
    for number, message in enumerate(row["messages"]):
        role = message["role"]
        if role == "system":
            # The same pages in every run; a recorder may keep contents out of its copy.
            told.append({"role": role, "length": len(message["content"].encode())})
        elif role == "user":
            told.append({"role": role, "content": message["content"]})
        if role != "assistant":
            continue
        calls: list[Call] = []
        for one in message.get("tool_calls") or ():
            asked = one.get("function") or one
            answer = _answer(row["messages"][number + 1 :], len(calls))
            key = f"{len(turns)}/{len(calls)}"
            call = _call(key, one["id"], asked["name"], asked["arguments"], answer)
            if call is None:
                return None
            calls.append(call)
        turns.append(
            Turn(
                response_id=f"resp-{hexed(12, row['case_id'], len(turns))}",
                calls=tuple(calls),
                text=message.get("content") or None,
                told=tuple(told),
            )
        )
        told = []
    return Script(case_id=row["case_id"], tools=(), turns=tuple(turns))


def _answer(messages: Sequence[dict[str, Json]], index: int) -> Json:
    """What stands in the tool message of that place, before anybody else speaks."""
    here = list(takewhile(lambda message: message["role"] == "tool", messages))
    return here[index]["content"] if index < len(here) else None


def _runtime(row: dict[str, Json]) -> Script | None:
    """A run with provider messages, requested calls and dispatched calls."""
    answers = {
        one["response"]["raw"]["id"]: one["response"]["raw"]["content"]
        for one in row["executor"]
        if not one["during_evaluation"]
    }
    turns = []
    for response in row["model"]:
        made = [
            _call(c["id"], c["id"], c["name"], c["arguments_raw"], answers.get(c["id"]))
            for c in response["calls"]
        ]
        calls = tuple(call for call in made if call is not None)
        turns.append(Turn(response_id=response["response_id"], calls=calls))
    asked = {call["id"] for call in row["adapter"]}
    outside = tuple(
        (
            "evaluation" if one["during_evaluation"] else "setup",
            one["name"],
            one["arguments"],
            one["response"]["raw"]["content"],
        )
        for one in row["executor"]
        if one["during_evaluation"] or one["response"]["raw"]["id"] not in asked
    )
    return Script(case_id=row["case_id"], tools=(), turns=tuple(turns), outside=outside)


def _dialogue(row: dict[str, Json]) -> Script | None:
    """A dialogue with annotated calls and their output."""
    turns: list[Turn] = []
    told: list[dict[str, Json]] = []
    for one in row["turns"]:
        name = hexed(12, row["case_id"], len(turns))
        if one["role"] == "User":
            told.append({"role": "user", "content": one["text"]})
        elif one["role"] == "AI":
            turns.append(Turn(response_id=f"resp-{name}", text=one["text"], told=tuple(told)))
            told = []
        else:
            made = row["calls"][one["call"]]
            output = made["output"] if made["exception"] is None else f"Error: {made['exception']}"
            call = _call(name, f"call-{name}", made["name"], dump(made["recorded_args"]), output)
            if call is None:
                return None
            turns.append(Turn(response_id=f"resp-{name}", calls=(call,), told=tuple(told)))
            told = []
    return Script(case_id=row["case_id"], tools=(), turns=tuple(turns))


def _call(key: str, call_id: str, name: str, raw: Json, result: Json) -> Call | None:
    """A call whose text is one JSON object; None for any other."""
    text = raw if isinstance(raw, str) else dump(raw)
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return Call(
        key=key, call_id=call_id, name=name, raw=text, result="" if result is None else result
    )
