"""For tests of programs that use agenttrace: recording in memory, with fixed ids and clock."""

from agenttrace.testing._fixed import FixedSource, fixed_ids_and_clock
from agenttrace.testing._recording import Recording, isolated, recording

__all__ = ["FixedSource", "Recording", "fixed_ids_and_clock", "isolated", "recording"]
