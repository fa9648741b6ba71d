"""Records and their one codec: record <-> JSON line <-> span attributes, and records -> Evidence.

JSON text with positions lives here too, because raw argument text is part of a record.
"""

from agenttrace.records._assemble import assemble, evidence_digest
from agenttrace.records._codec import (
    BOUNDARY_OF,
    plain_to_attributes,
    record_from_attributes,
    record_from_plain,
    record_to_attributes,
    record_to_line,
    record_to_plain,
    runs_of,
    travels,
)
from agenttrace.records._events import EVENT_NAMES, EVENT_SHAPES, NO_CONTENT
from agenttrace.records._json_places import Loc, Place, places
from agenttrace.records._json_text import (
    Arguments,
    Found,
    JsonDocument,
    JsonTextError,
    at_pointer,
    canonical,
    dump_json,
    escape,
    mask_text,
    parse_arguments,
    parse_json,
    slice_at,
    slices,
    split_pointer,
    without,
)
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
    "dump_json",
    "escape",
    "evidence_digest",
    "from_plain",
    "mask_text",
    "parse_arguments",
    "parse_json",
    "places",
    "plain_to_attributes",
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
