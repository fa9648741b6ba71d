"""Keeps secrets out of records: masks with stable keyed tokens, and digests of what was there."""

from agenttrace.redaction._digests import WHOLE, Digest, fold, key_ids, read_digest
from agenttrace.redaction._fields import DEFAULT_FIELDS, FieldRules
from agenttrace.redaction._load import find_redactor, load_redactor
from agenttrace.redaction._passing import let_pass_with
from agenttrace.redaction._patterns import DEFAULT_PATTERNS, SecretPattern
from agenttrace.redaction._redactor import Redactor, key_id_of
from agenttrace.redaction._run_digest import RunDigests
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
    "WHOLE",
    "Digest",
    "FieldRules",
    "Redactor",
    "RunDigests",
    "RunMask",
    "SecretPattern",
    "contains_token",
    "find_redactor",
    "fold",
    "is_token",
    "key_id_of",
    "key_ids",
    "let_pass_with",
    "load_redactor",
    "read_digest",
    "token_key_id",
]
