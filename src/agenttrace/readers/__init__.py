"""Evidence from files, folders and OTLP, by the same codec that recorded it."""

from agenttrace.readers._evidence_set import EvidenceSet, StoredRun, read_evidence
from agenttrace.readers._files import Problem, read_file
from agenttrace.readers._folders import walk
from agenttrace.readers._otlp import OtlpRecords, UnusableSpan, records_from_otlp_spans
from agenttrace.readers._otlp_values import OtlpShapeError

__all__ = [
    "EvidenceSet",
    "OtlpRecords",
    "OtlpShapeError",
    "Problem",
    "StoredRun",
    "UnusableSpan",
    "read_evidence",
    "read_file",
    "records_from_otlp_spans",
    "walk",
]
