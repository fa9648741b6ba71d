"""Every setting: what it may be, where its value comes from, and its default."""

from agenttrace.settings._kinds import Content
from agenttrace.settings._resolve import ARGUMENT, Resolution, Resolved, masking_of, resolve
from agenttrace.settings._table import BY_NAME, DEFAULT_EVIDENCE, PREFIX, TABLE, Setting, shown

__all__ = [
    "ARGUMENT",
    "BY_NAME",
    "DEFAULT_EVIDENCE",
    "PREFIX",
    "TABLE",
    "Content",
    "Resolution",
    "Resolved",
    "Setting",
    "masking_of",
    "resolve",
    "shown",
]
