"""For tests of programs that use agenttrace: recording in memory, fixed ids and clock, builders."""

from agenttrace.testing._builders import adapter_call, clean_run, evidence, execution, model_call
from agenttrace.testing._fixed import FixedSource, fixed_ids_and_clock
from agenttrace.testing._recording import Recording, isolated, recording

__all__ = [
    "FixedSource",
    "Recording",
    "adapter_call",
    "clean_run",
    "evidence",
    "execution",
    "fixed_ids_and_clock",
    "isolated",
    "model_call",
    "recording",
]
