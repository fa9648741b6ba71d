"""Verdicts for people and for other tools; standard library only."""

from agenttrace.report._explanation import Explanation, Group
from agenttrace.report._explanations import EXPLANATIONS, codes_like, explanations_of
from agenttrace.report._json import verdict_to_json
from agenttrace.report._repeats import (
    mean_pass_hat,
    repeats_lines,
    repeats_summary,
    repeats_to_json,
)
from agenttrace.report._summary import Tally, summary, summary_to_json
from agenttrace.report._terminal import replay_command, terminal_verdict
from agenttrace.report._text import visible

__all__ = [
    "EXPLANATIONS",
    "Explanation",
    "Group",
    "Tally",
    "codes_like",
    "explanations_of",
    "mean_pass_hat",
    "repeats_lines",
    "repeats_summary",
    "repeats_to_json",
    "replay_command",
    "summary",
    "summary_to_json",
    "terminal_verdict",
    "verdict_to_json",
    "visible",
]
