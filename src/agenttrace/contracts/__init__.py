"""Cases as people write them: strict at the door, domain types inside."""

from agenttrace.contracts._accepted_values import required_from_accepted
from agenttrace.contracts._check import CaseCheck, CaseFault, check_cases
from agenttrace.contracts._editor_schema import case_file_schema
from agenttrace.contracts._files import load_cases
from agenttrace.contracts._parse import content_revision, parse_case
from agenttrace.contracts._patterns import PatternError, check_linear, compile_pattern
from agenttrace.contracts._tool_contract import ToolSource, tool_contract

__all__ = [
    "CaseCheck",
    "CaseFault",
    "PatternError",
    "ToolSource",
    "case_file_schema",
    "check_cases",
    "check_linear",
    "compile_pattern",
    "content_revision",
    "load_cases",
    "parse_case",
    "required_from_accepted",
    "tool_contract",
]
