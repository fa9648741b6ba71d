"""Faults of what the model was shown of a run, and changes that are none."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from bench._localise_due import Due, carried, point_of
from bench._localise_edit import Artifact, Place, fail
from bench._localise_script import Script, dump
from bench._localise_values import canonical

Json = Any


def _handed_back(artifact: Artifact, place: Place, kind: str) -> Due:
    point = point_of(artifact, place, "executor", kind, owner="adapter")
    # It stands right behind its own call.
    point = replace(point, time=(point.time[0], point.time[1] + 0.5))
    return Due(planned=[point], alone=[point])


def _reads(result: Json) -> frozenset[str]:
    """What a shown result may be read as."""
    found = {canonical(result)}
    if isinstance(result, str):
        found.add(canonical(result.strip()))
        with suppress(ValueError):
            found.add(canonical(json.loads(result)))
    return frozenset(found)


def result_changed(artifact: Artifact, place: Place, random: Random) -> Due | None:
    result = artifact.script.call(place).result
    if artifact.shown(place) is None:
        return None
    text = result if isinstance(result, str) else json.dumps(result)
    digits = "".join(str((int(c) + 1) % 10) if c.isdecimal() else c for c in text)
    options = [digits, f"Done: {text[:30]}", text[: len(text) // 2], f"{text} (cached)", "{}", ""]
    new = random.choice(options)
    taken = {
        one for p in artifact.script.places() for one in _reads(artifact.script.call(p).result)
    }
    if _reads(new) & taken or _states_error(new):
        return None
    artifact.show(place, new)
    return _handed_back(artifact, place, "result_changed")


def result_swapped(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """The result of an earlier call, or of one of the same response, was shown."""
    script = artifact.script
    if artifact.shown(place) is None:
        return None
    own = _reads(script.call(place).result)
    others = [
        script.call(one).result
        for one in script.places()
        if one != place and one[0] <= place[0] and not _reads(script.call(one).result) & own
    ]
    if not others:
        return None
    artifact.show(place, random.choice(others))
    return _handed_back(artifact, place, "result_swapped")


def _states_error(result: Json) -> bool:
    text = json.dumps(result).casefold()
    words = ("error", "exception", "fail", "traceback", "timed out", "timeout")
    return any(word in text for word in words)


def error_hidden(artifact: Artifact, place: Place, random: Random) -> Due | None:
    result = artifact.script.call(place).result
    if artifact.shown(place) is None or _states_error(result):
        return None
    if random.random() < 0.3:
        artifact.show(place, "Error: the tool could not be reached", is_error=True)
    else:
        fail(
            artifact.at("executor", place)["payload"], "RuntimeError", "no connection to the store"
        )
        if random.random() < 0.4:
            artifact.show(place, random.choice(["", "ok", "{}", "None"]))
    return _handed_back(artifact, place, "error_hidden")


def default_applied(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """An argument that the model left out, filled in with the default that its tool states."""
    call = artifact.script.call(place)
    properties = artifact.script.schemas.get(call.name, {}).get("properties", {})
    stated = {k: v["default"] for k, v in properties.items() if "default" in v}
    name = next((one for one in stated if one not in call.args), None)
    if name is None:
        return None
    args = {**call.args, name: stated[name]}
    carried(artifact, place, random.choice(["adapter", "executor"]), args)
    if random.random() < 0.5:
        artifact.at("executor", place)["payload"]["defaults"] = [name]
    # A plan for the executor writes the default down; one that does not is for the model.
    if random.random() < 0.5:
        return Due(compare="model")
    filled = replace(call, raw=dump(args))
    return Due(plan=artifact.script.with_call(place, filled))


def plant_schema(script: Script, place: Place, random: Random) -> Script | None:
    name, value = random.choice([("currency", "USD"), ("limit", 20), ("notify", False)])
    if any(name in script.call(one).args for one in script.places()):
        return None
    schema = {"type": "object", "properties": {name: {"default": value}}}
    return replace(script, schemas={script.call(place).name: schema})


def text_respelled(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """The same arguments in another spelling of their text, and in another order of their keys."""
    args = artifact.script.call(place).args
    keys = random.sample(list(args), len(args))
    moved = {key: args[key] for key in keys}
    texts = [
        json.dumps(moved, indent=2),
        json.dumps(moved, ensure_ascii=False),
        f" {json.dumps(moved)}\n",
        json.dumps(moved).replace("/", "\\/"),
        *(["", " ", "{ }"] if not args else []),
    ]
    payload = artifact.at("model", place)["payload"]
    payload["raw"] = random.choice(texts)
    payload["raw_length"] = len(payload["raw"])
    return Due()


def result_rendered(artifact: Artifact, place: Place, random: Random) -> Due | None:
    """The result in another of the forms in which results reach a model."""
    result = artifact.script.call(place).result
    if artifact.shown(place) is None:
        return None
    text = result if isinstance(result, str) else json.dumps(result)
    options: list[Json] = [[{"type": "text", "text": text}], f"{text}\n", text]
    if len(text) > 9:
        options += [f"{text[:9]}\u2026", f"{text[: len(text) // 2]}\n[output truncated]"]
    try:
        value = json.loads(text)
    except ValueError:
        pass
    else:
        if isinstance(value, dict | list):
            options += [value, dump(value), json.dumps(value, indent=2, sort_keys=True)]
    artifact.show(place, random.choice(options))
    return Due()
