"""Changes between model and tool that tools and their owners declare."""

from __future__ import annotations

from collections.abc import Mapping

from agenttrace._dataclass import dataclass, field
from agenttrace.domain._json import JsonObject


@dataclass(frozen=True, kw_only=True, slots=True)
class Envelope:
    """A tool through which the model calls other tools."""

    tool: str
    name: str
    """Argument that holds the real call's name."""
    arguments: str
    """Argument that holds the real call's arguments."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolContract:
    """What one tool's schema and owner declare; tools are named as the executor knows them."""

    unit: Mapping[str, str] = field(default_factory=dict)
    """The model's argument name to `x100`, `/100` and the like."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """The model's argument name to the tool's."""
    coerce: Mapping[str, str] = field(default_factory=dict)
    """Argument to `integer`, `number`, `boolean` or `string`."""
    drop_null_optional: tuple[str, ...] = ()
    drop_unknown: tuple[str, ...] = ()
    """All parameters of the tool; any other argument may be removed. Empty: none may."""
    defaults: JsonObject = field(default_factory=dict)
    normalize: Mapping[str, str] = field(default_factory=dict)
    fold_case: tuple[str, ...] = ()
    schema: JsonObject | None = None
    """JSON Schema of the arguments; what it calls a number may be written as `10` or `10.0`."""

    @property
    def declares_changes(self) -> bool:
        """Whether anything is declared that may happen to a call between model and tool."""
        return self != ToolContract(schema=self.schema)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """Declared, legitimate changes between what the model says and what the tools take."""

    envelope: Envelope | None = None
    strip_prefix: tuple[str, ...] = ()
    name_map: Mapping[str, str] = field(default_factory=dict)
    client_side_tools: frozenset[str] = frozenset()
    read_only: frozenset[str] = frozenset()
    tools: Mapping[str, ToolContract] = field(default_factory=dict)

    def tool(self, name: str) -> ToolContract:
        """What is declared of one tool; nothing, where nothing is."""
        return self.tools.get(name, _UNDECLARED)


_UNDECLARED = ToolContract()
