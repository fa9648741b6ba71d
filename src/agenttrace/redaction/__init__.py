"""Keeps secrets out of records: masks with stable keyed tokens, and digests of what was there."""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING, late_names

if TYPE_CHECKING:
    from agenttrace.redaction._digest_text import WHOLE, Digest, key_ids, read_digest
    from agenttrace.redaction._digests import fold
    from agenttrace.redaction._fields import DEFAULT_FIELDS, FieldRules
    from agenttrace.redaction._load import find_redactor, load_redactor
    from agenttrace.redaction._passing import let_pass_with
    from agenttrace.redaction._patterns import DEFAULT_PATTERNS, SecretPattern
    from agenttrace.redaction._redactor import Redactor, key_id_of
    from agenttrace.redaction._run_digest import RunDigests
    from agenttrace.redaction._run_mask import RunMask
    from agenttrace.redaction._tokens import DROPPED, contains_token, is_token, token_key_id

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

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "DEFAULT_FIELDS": "_fields",
            "DEFAULT_PATTERNS": "_patterns",
            "DROPPED": "_tokens",
            "Digest": "_digest_text",
            "FieldRules": "_fields",
            "Redactor": "_redactor",
            "RunDigests": "_run_digest",
            "RunMask": "_run_mask",
            "SecretPattern": "_patterns",
            "WHOLE": "_digest_text",
            "contains_token": "_tokens",
            "find_redactor": "_load",
            "fold": "_digests",
            "is_token": "_tokens",
            "key_id_of": "_redactor",
            "key_ids": "_digest_text",
            "let_pass_with": "_passing",
            "load_redactor": "_load",
            "read_digest": "_digest_text",
            "token_key_id": "_tokens",
        },
    )
