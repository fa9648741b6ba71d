"""Several runs of one case: how often it passes, and what differs from run to run.

Pure, as scoring is: verdicts and evidence go in, figures come out.
"""

from agenttrace.repeats._group import VERSIONS, CaseRepeats, Repeats
from agenttrace.repeats._rates import interval, pass_at_k, pass_hat_k, pass_rate
from agenttrace.repeats._slots import Variation, Varies

__all__ = [
    "VERSIONS",
    "CaseRepeats",
    "Repeats",
    "Variation",
    "Varies",
    "interval",
    "pass_at_k",
    "pass_hat_k",
    "pass_rate",
]
