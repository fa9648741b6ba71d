"""Faults of arguments: a value, a key, or its absence, at a boundary and all that follow."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

from bench._localise_due import OWNERS, Due, Fault, carried, point_of
from bench._localise_edit import Artifact, Place
from bench._localise_script import PLANTED, Script, dump, planted
from bench._localise_values import (
    VALUE_KINDS,
    canonical,
    changed,
    container,
    escape,
    leaves,
    parts_of,
)

Json = Any
Edit = Callable[[dict[str, Json], str, Json, Random], str | None]


def value_fault(kind: str, boundary: str) -> Fault:
    """One argument changed in this way at this boundary."""

    def inject(artifact: Artifact, place: Place, random: Random) -> Due | None:
        before = artifact.at(boundary, place)["payload"].get("arguments", {})
        args = deepcopy(before)
        options = leaves(args)
        random.shuffle(options)
        edit = EDITS.get(kind, _changed(kind))
        made = (edit(args, path, value, random) for path, value in options)
        path = next((one for one in made if one is not None), None)
        if path is None:
            return None
        owner = OWNERS[boundary]
        if (kind, boundary) == ("nested", "model") and _is_text_of(
            _at(args, path), _at(before, path)
        ):
            owner = "provider"  # it encoded the value twice
        carried(artifact, place, boundary, args)
        point = point_of(artifact, place, boundary, kind, path=path, owner=owner)
        due = Due(planned=[point], alone=[point])
        if boundary == "model":
            call = artifact.script.call(place)
            due.alone = []
            due.twin = artifact.script.with_call(place, replace(call, raw=dump(args)))
            due.tools = frozenset({call.name})
        return due

    return Fault(kind=kind, boundary=boundary, inject=inject, plant=_plant_for(kind))


def _plant_for(kind: str) -> Callable[[Script, Place, Random], Script | None]:
    def plant(script: Script, place: Place, random: Random) -> Script | None:
        options = [(n, v) for n, v in PLANTED if n not in script.call(place).args]
        random.shuffle(options)
        if kind in VALUE_KINDS:
            options = [
                (name, value)
                for name, value in options
                if any(changed(kind, one, random) is not None for _, one in leaves({name: value}))
            ]
        return planted(script, place, *options[0]) if options else None

    return plant


def _changed(kind: str) -> Edit:
    def edit(args: dict[str, Json], path: str, value: Json, random: Random) -> str | None:
        new = changed(kind, value, random)
        if new is None:
            return None
        inside, key = container(args, path)
        inside[key] = new[0]
        return path

    return edit


def _rename(args: dict[str, Json], path: str, value: Json, random: Random) -> str | None:
    inside, key = container(args, path)
    first, *rest = key.split("_")
    name = random.choice(
        [first + "".join(part.title() for part in rest), f"{key}_", key.upper(), f"the/{key}", "x"]
    )
    if name in inside:
        return None
    inside[name] = inside.pop(key)
    return path


def _drop(args: dict[str, Json], path: str, value: Json, random: Random) -> str | None:
    inside, key = container(args, path)
    if inside is not args and len(inside) == 1:
        return None  # an object without members is a value of its own
    del inside[key]
    return path


def _add(args: dict[str, Json], path: str, value: Json, random: Random) -> str | None:
    inside, _ = container(args, path)
    name = random.choice(["session_id", "dry_run", "a/b~c", "limit", "Ключ"])
    if name in inside:
        return None
    inside[name] = random.choice(["s-4711", True, 0, None, [], {"by": "wrapper"}, ""])
    return "/".join(["", *map(escape, [*parts_of(path)[:-1], name])])


EDITS: dict[str, Edit] = {
    "renamed": _rename,
    "dropped": _drop,
    "added": _add,
}


def _at(args: Json, pointer: str) -> Json:
    inside, key = container(args, pointer)
    return inside[key]


def _is_text_of(text: Json, value: Json) -> bool:
    if not isinstance(text, str) or not isinstance(value, dict | list):
        return False
    return canonical(json.loads(text)) == canonical(value)
