"""Evidence files: version 1, read line by line, written whole or not at all."""

from agenttrace.artifacts._format import VERSION, Header, header_line
from agenttrace.artifacts._read import (
    ArtifactContent,
    LineProblem,
    artifact_items,
    iter_artifact,
    read_artifact,
)
from agenttrace.artifacts._write import WholeFile, artifact_lines, write_artifact

__all__ = [
    "VERSION",
    "ArtifactContent",
    "Header",
    "LineProblem",
    "WholeFile",
    "artifact_items",
    "artifact_lines",
    "header_line",
    "iter_artifact",
    "read_artifact",
    "write_artifact",
]
