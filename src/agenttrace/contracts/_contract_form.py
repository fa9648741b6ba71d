"""The form of a contract: which changes between model and tool are declared and legitimate.

People write it field by field, each with the tools it holds for; the scorer asks tool by tool, so
`to_domain` regroups it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from agenttrace.contracts._rules import NormalizerName
from agenttrace.contracts._schema_form import tool_schema
from agenttrace.contracts._values import Form, FormError, JsonFields, Name, refuse
from agenttrace.domain import Contract, Envelope, ToolContract

_UNIT = re.compile(r"[x/][1-9][0-9]{0,18}")


def _unit(value: str) -> str:
    if not _UNIT.fullmatch(value):
        raise FormError(
            f"is {value!r:.40}, not a unit such as x100 or /100",
            "write x or / and the whole number that the adapter multiplies or divides by",
        )
    return value


Unit = Annotated[str, AfterValidator(_unit)]
Coercion = Literal["integer", "number", "boolean", "string"]
ToolSchema = Annotated[JsonFields, AfterValidator(tool_schema)]
Names = Annotated[list[Name], Field(min_length=1)]


class EnvelopeForm(Form):
    """A tool through which the model calls other tools."""

    tool: Name
    """The tool that the model calls."""
    name: Name
    """Its argument that holds the real call's name."""
    args: Name
    """Its argument that holds the real call's arguments."""

    def to_domain(self) -> Envelope:
        """The envelope as the scorer knows it."""
        return Envelope(tool=self.tool, name=self.name, arguments=self.args)


class ContractForm(Form):
    """Declared changes, in the order in which they apply."""

    envelope: EnvelopeForm | None = None
    """A tool through which the model calls other tools."""
    strip_prefix: list[Name] | None = None
    """Prefixes, of which one may be taken off a tool's name."""
    name_map: dict[Name, Name] | None = None
    """The model's name of a tool to the executor's."""
    unit: dict[Name, dict[Name, Unit]] | None = None
    """Tool to the model's argument name to x100 or /100: the adapter multiplies or divides."""
    rename: dict[Name, dict[Name, Name]] | None = None
    """Tool to the model's argument name to the tool's."""
    coerce: dict[Name, dict[Name, Coercion]] | None = None
    """Tool to argument to the type that its text is read as."""
    drop_null_optional: dict[Name, list[Name]] | None = None
    """Tool to arguments whose null may be removed."""
    drop_unknown: dict[Name, Names] | None = None
    """Tool to all its parameters; any other argument may be removed."""
    defaults: dict[Name, JsonFields] | None = None
    """Tool to values filled in where the argument is missing."""
    normalize: dict[Name, dict[Name, NormalizerName]] | None = None
    """Tool to argument to the normalizer after which values are equal."""
    fold_case: dict[Name, list[Name]] | None = None
    """Tool to arguments compared without case."""
    schemas: dict[Name, ToolSchema] | None = None
    """Tool to the JSON Schema of its arguments."""
    client_side_tools: list[Name] | None = None
    """Tools that the agent's side does not run."""
    read_only: list[Name] | None = None
    """Tools that change nothing."""

    @model_validator(mode="after")
    def _renames_to_one_name_each(self) -> Self:
        refuse(
            FormError(
                f"renames two arguments of {tool!r:.60} to one name",
                "give each a name of its own",
                at=("rename", tool),
            )
            for tool, names in (self.rename or {}).items()
            if len(set(names.values())) != len(names)
        )
        return self

    def to_domain(self) -> Contract:
        """The contract as the scorer knows it, grouped by tool."""
        tools: dict[str, dict[str, Any]] = defaultdict(dict)
        for name in _MAPPINGS:
            for tool, declared in (getattr(self, name) or {}).items():
                tools[tool][name] = declared
        for tool, schema in (self.schemas or {}).items():
            tools[tool]["schema"] = schema
        for name in _LISTS:
            for tool, declared in (getattr(self, name) or {}).items():
                tools[tool][name] = tuple(declared)
        return Contract(
            envelope=None if self.envelope is None else self.envelope.to_domain(),
            strip_prefix=tuple(self.strip_prefix or ()),
            name_map=self.name_map or {},
            client_side_tools=frozenset(self.client_side_tools or ()),
            read_only=frozenset(self.read_only or ()),
            tools={tool: ToolContract(**declared) for tool, declared in tools.items()},
        )


_MAPPINGS = ("unit", "rename", "coerce", "defaults", "normalize")
_LISTS = ("drop_null_optional", "drop_unknown", "fold_case")
