"""Judgement of one run: pure, deterministic, standard library only.

`score(case, evidence)` answers in a fixed order: do the records belong here, are they whole, does
the reference hold, and only then which boundary is the first to differ.
"""

from __future__ import annotations

from agenttrace._late import TYPE_CHECKING, late_names
from agenttrace.scoring._score import records_alone, score

if TYPE_CHECKING:
    from agenttrace.scoring._asserted import unmet as unmet_assertions
    from agenttrace.scoring._case_values import CaseValues
    from agenttrace.scoring._changes import Change, changes, value_kind
    from agenttrace.scoring._expected import expected_like
    from agenttrace.scoring._figures import choose_plan
    from agenttrace.scoring._json_schema import KEYWORDS as SCHEMA_KEYWORDS
    from agenttrace.scoring._json_schema import REF as SCHEMA_REF
    from agenttrace.scoring._json_schema import fits_schema
    from agenttrace.scoring._lineage import trace_value
    from agenttrace.scoring._match import figures, fits, loose_f1, match
    from agenttrace.scoring._normalizers import (
        Normalizer,
        normalizer,
        normalizer_names,
        register_normalizer,
    )
    from agenttrace.scoring._pattern import compile_patterns_with
    from agenttrace.scoring._policy import broken_rules, observed_calls
    from agenttrace.scoring._protocols import TextMatcher, TextSearcher
    from agenttrace.scoring._rules import accepts
    from agenttrace.scoring._shown import hide_expected

__all__ = [
    "SCHEMA_KEYWORDS",
    "SCHEMA_REF",
    "CaseValues",
    "Change",
    "Normalizer",
    "TextMatcher",
    "TextSearcher",
    "accepts",
    "broken_rules",
    "changes",
    "choose_plan",
    "compile_patterns_with",
    "expected_like",
    "figures",
    "fits",
    "fits_schema",
    "hide_expected",
    "loose_f1",
    "match",
    "normalizer",
    "normalizer_names",
    "observed_calls",
    "records_alone",
    "register_normalizer",
    "score",
    "trace_value",
    "unmet_assertions",
    "value_kind",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "CaseValues": "_case_values",
            "Change": "_changes",
            "SCHEMA_KEYWORDS": "_json_schema:KEYWORDS",
            "Normalizer": "_normalizers",
            "SCHEMA_REF": "_json_schema:REF",
            "TextMatcher": "_protocols",
            "TextSearcher": "_protocols",
            "accepts": "_rules",
            "broken_rules": "_policy",
            "changes": "_changes",
            "choose_plan": "_figures",
            "compile_patterns_with": "_pattern",
            "expected_like": "_expected",
            "figures": "_match",
            "fits": "_match",
            "fits_schema": "_json_schema",
            "hide_expected": "_shown",
            "loose_f1": "_match",
            "match": "_match",
            "normalizer": "_normalizers",
            "normalizer_names": "_normalizers",
            "observed_calls": "_policy",
            "register_normalizer": "_normalizers",
            "trace_value": "_lineage",
            "unmet_assertions": "_asserted:unmet",
            "value_kind": "_changes",
        },
    )
