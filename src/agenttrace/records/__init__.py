"""Records and their one codec: record <-> JSON line <-> span attributes, and records -> Evidence.

JSON text with positions lives here too, because raw argument text is part of a record.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING, late_names

if TYPE_CHECKING:
    from agenttrace.records._assemble import assemble, evidence_digest
    from agenttrace.records._codec import (
        BOUNDARY_OF,
        plain_to_attributes,
        read_attributes,
        record_from_attributes,
        record_from_plain,
        record_to_attributes,
        record_to_line,
        record_to_plain,
        runs_of,
        travels,
    )
    from agenttrace.records._events import EVENT_NAMES, EVENT_SHAPES, NO_CONTENT
    from agenttrace.records._json_dump import canonical, canonical_writer, dump_json
    from agenttrace.records._json_lex import JsonTextError
    from agenttrace.records._json_mask import Found, mask_text
    from agenttrace.records._json_places import Loc, Place, places
    from agenttrace.records._json_pointer import at_pointer, escape, split_pointer, without
    from agenttrace.records._json_slice import slice_at, slices
    from agenttrace.records._json_text import Arguments, JsonDocument, parse_arguments, parse_json
    from agenttrace.records._record import Event, Record, RecordKind, RunEnd, ToolSchema
    from agenttrace.records._shape import ShapeError, from_plain, to_plain

__all__ = [
    "BOUNDARY_OF",
    "EVENT_NAMES",
    "EVENT_SHAPES",
    "NO_CONTENT",
    "Arguments",
    "Event",
    "Found",
    "JsonDocument",
    "JsonTextError",
    "Loc",
    "Place",
    "Record",
    "RecordKind",
    "RunEnd",
    "ShapeError",
    "ToolSchema",
    "assemble",
    "at_pointer",
    "canonical",
    "canonical_writer",
    "dump_json",
    "escape",
    "evidence_digest",
    "from_plain",
    "mask_text",
    "parse_arguments",
    "parse_json",
    "places",
    "plain_to_attributes",
    "read_attributes",
    "record_from_attributes",
    "record_from_plain",
    "record_to_attributes",
    "record_to_line",
    "record_to_plain",
    "runs_of",
    "slice_at",
    "slices",
    "split_pointer",
    "to_plain",
    "travels",
    "without",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "Arguments": "_json_text",
            "BOUNDARY_OF": "_codec",
            "EVENT_NAMES": "_events",
            "EVENT_SHAPES": "_events",
            "Event": "_record",
            "Found": "_json_mask",
            "JsonDocument": "_json_text",
            "JsonTextError": "_json_lex",
            "Loc": "_json_places",
            "NO_CONTENT": "_events",
            "Place": "_json_places",
            "Record": "_record",
            "RecordKind": "_record",
            "RunEnd": "_record",
            "ShapeError": "_shape",
            "ToolSchema": "_record",
            "assemble": "_assemble",
            "at_pointer": "_json_pointer",
            "canonical": "_json_dump",
            "canonical_writer": "_json_dump",
            "dump_json": "_json_dump",
            "escape": "_json_pointer",
            "evidence_digest": "_assemble",
            "from_plain": "_shape",
            "mask_text": "_json_mask",
            "parse_arguments": "_json_text",
            "parse_json": "_json_text",
            "places": "_json_places",
            "plain_to_attributes": "_codec",
            "read_attributes": "_codec",
            "record_from_attributes": "_codec",
            "record_from_plain": "_codec",
            "record_to_attributes": "_codec",
            "record_to_line": "_codec",
            "record_to_plain": "_codec",
            "runs_of": "_codec",
            "slice_at": "_json_slice",
            "slices": "_json_slice",
            "split_pointer": "_json_pointer",
            "to_plain": "_shape",
            "travels": "_codec",
            "without": "_json_pointer",
        },
    )
