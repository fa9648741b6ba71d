"""The form of case files as a JSON Schema, by which editors complete and check them.

It says what one field may be. What fields say together, and whether a pattern is linear, only
`agenttrace check-cases` knows.
"""

from __future__ import annotations

from typing import Any, Final

from agenttrace.contracts._forms import NEWEST_FORM, CaseForm
from agenttrace.domain import RuleKind
from agenttrace.scoring import normalizer_names

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def case_file_schema() -> dict[str, Any]:
    """JSON Schema of a case file: one case, a list of cases, or an object with them as `cases`.

    Normalizers that are registered when it is asked for are among those that it lists.
    """
    made: dict[str, Any] = _plain(CaseForm.model_json_schema())
    definitions = {name.removesuffix("Form"): one for name, one in made.pop("$defs").items()}
    case = definitions["Case"] = made
    case["properties"]["schema_version"] = {
        "const": NEWEST_FORM,
        "description": case["properties"]["schema_version"]["description"],
    }
    rule = definitions["Rule"]
    rule["properties"]["normalizer"]["enum"] = list(normalizer_names())
    rule["properties"]["ignore"]["const"] = rule["properties"]["optional"]["const"] = True
    rule["oneOf"] = [{"required": [kind.value]} for kind in RuleKind]
    rule["dependentRequired"] = {"normalizer": ["value"], "value": ["normalizer"]}
    one = {"$ref": "#/$defs/Case"}
    several = {"type": "array", "items": one}
    return {
        "$schema": _DIALECT,
        "title": "agenttrace cases",
        "anyOf": [
            one,
            several,
            {
                "type": "object",
                "properties": {"cases": several},
                "required": ["cases"],
                "additionalProperties": False,
            },
        ],
        "$defs": dict(sorted(definitions.items())),
    }


def _plain(value: Any) -> Any:
    """The schema without what tells a reader nothing: made-up titles, and that null is the same."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value.removesuffix("Form") if _is_reference(value) else value
    kept = {}
    for key, one in value.items():
        is_annotation = key in ("title", "default") and not isinstance(one, dict)
        if not is_annotation:
            kept[key] = _plain(one)
    return kept


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("#/$defs/")
