"""Version 1 of evidence files: JSON lines, each section with its header first.

A section holds what one recorder wrote of one run. A recorder writes one section a file; a file
that was put together from several holds their sections one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agenttrace.domain import JsonObject, JsonValue, Run
from agenttrace.records import dump_json, to_plain

VERSION: Final = 1
"""The version that is written, and the newest that is read."""
HEADER_KEY: Final = "agenttrace"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The first line of a section."""

    version: int
    run: JsonObject
    """The run as its recorder knew it when it opened the file."""
    recorder: str
    unknown: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields that a later minor version wrote."""

    @property
    def run_id(self) -> str:
        """Id of the run that the section belongs to."""
        return str(self.run["run_id"])


def header_line(run: Run, recorder: str) -> str:
    """The header of a section, without the line's end."""
    header = {"version": VERSION, "run": to_plain(run), "recorder": recorder}
    return dump_json({HEADER_KEY: header})


def read_header(value: JsonValue) -> Header | int | str:
    """The header a line's value is; its version where that is newer; else why it is none."""
    if not isinstance(value, dict):
        return "is no JSON object, so no evidence of agenttrace"
    inside = value.get(HEADER_KEY)
    if not isinstance(inside, dict):
        keys = ", ".join(repr(key)[:40] for key in list(value)[:5]) or "no fields"
        return f"is an object with {keys}, not the header of an evidence file"
    version = inside.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return f"is a header whose version is {version!r:.40}, not a number from 1"
    if version > VERSION:
        return version
    run, recorder = inside.get("run"), inside.get("recorder")
    if not isinstance(run, dict) or not isinstance(run.get("run_id"), str):
        return "is a header without run.run_id"
    if not isinstance(recorder, str):
        return "is a header without recorder"
    unknown = {k: v for k, v in inside.items() if k not in ("version", "run", "recorder")}
    return Header(version=version, run=run, recorder=recorder, unknown=unknown)
