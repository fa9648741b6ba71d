"""Chat logs that were kept without agenttrace, as evidence of the model boundary alone."""

from agenttrace.readers.transcripts._formats import TranscriptFormat
from agenttrace.readers.transcripts._read import (
    Transcripts,
    holds_rows,
    is_stream,
    log_files,
    not_recognised,
    read_transcripts,
    recognise,
    why_unreadable,
)
from agenttrace.readers.transcripts._records import AS_LOGGED
from agenttrace.readers.transcripts._row import Transcript

__all__ = [
    "AS_LOGGED",
    "Transcript",
    "TranscriptFormat",
    "Transcripts",
    "holds_rows",
    "is_stream",
    "log_files",
    "not_recognised",
    "read_transcripts",
    "recognise",
    "why_unreadable",
]
