"""Cases as people write them: strict at the door, domain types inside."""

from agenttrace.contracts._files import load_cases
from agenttrace.contracts._parse import content_revision, parse_case
from agenttrace.contracts._patterns import PatternError, check_linear, compile_pattern

__all__ = [
    "PatternError",
    "check_linear",
    "compile_pattern",
    "content_revision",
    "load_cases",
    "parse_case",
]
