"""Keeps secrets out of records: masks with stable keyed tokens, and digests of what was there."""

from agenttrace.redaction._fields import DEFAULT_FIELDS, FieldRules
from agenttrace.redaction._load import find_redactor, load_redactor
from agenttrace.redaction._patterns import DEFAULT_PATTERNS, SecretPattern
from agenttrace.redaction._redactor import Redactor, key_id_of
from agenttrace.redaction._run_mask import RunMask
from agenttrace.redaction._tokens import (
    DROPPED,
    contains_token,
    is_token,
    token_key_id,
)

__all__ = [
    "DEFAULT_FIELDS",
    "DEFAULT_PATTERNS",
    "DROPPED",
    "FieldRules",
    "Redactor",
    "RunMask",
    "SecretPattern",
    "contains_token",
    "find_redactor",
    "is_token",
    "key_id_of",
    "load_redactor",
    "token_key_id",
]
