"""What is known of the decorated tools of this process, and what of it goes into a run's end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from agenttrace.capture._binding import Binder
from agenttrace.capture._guard import guard
from agenttrace.capture._snapshot import snapshot
from agenttrace.capture._tally import Tally
from agenttrace.domain import JsonObject, JsonValue, Manifest, Masking, ToolContract
from agenttrace.records import RunEnd, from_plain


class RunMasking(Protocol):
    """Masks stated values as those of the run's records are."""

    def mask_arguments(self, arguments: JsonObject) -> JsonObject:
        """Values by the names of arguments."""

    def mask_schema(self, schema: JsonValue) -> JsonValue:
        """A tool's JSON Schema."""


class RunOfTools(Protocol):
    """A run that knows which tools ran in it."""

    @property
    def mask(self) -> RunMasking:
        """What masks its records."""

    @property
    def tally(self) -> Tally:
        """What was counted of it."""

    def count_lost(self, cause: str) -> None:
        """Add one to what was lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stated:
    """What is known of the tools of one run."""

    contracts: dict[str, ToolContract]
    signatures: dict[str, JsonObject]

    def end(self, manifest: Manifest, masking: Masking) -> RunEnd:
        """The run's end that says it."""
        return RunEnd(
            manifest=manifest,
            masking=masking,
            contracts=self.contracts,
            signatures=self.signatures,
        )


class TracedTools:
    """Decorated tools by name; what is said last is said of the same tool."""

    def __init__(self) -> None:
        self._declared: dict[str, ToolContract | None] = {}
        self._binders: dict[str, Binder] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._declared))

    def __contains__(self, name: object) -> bool:
        return name in self._declared

    def add(self, name: str, contract: ToolContract | None = None) -> None:
        """Note a tool, and what its owner declares of it."""
        if contract is not None or name not in self._declared:
            self._declared[name] = contract

    def declared(self, name: str) -> ToolContract | None:
        """What its owner declared."""
        return self._declared.get(name)

    def runs(self, name: str, binder: Binder | None) -> None:
        """Note the parameters of the function that runs under a name."""
        if binder is not None:
            self._binders[name] = binder

    def stated(self, run: RunOfTools) -> Stated:
        """What is declared of the tools that ran, and what their signatures state, masked."""
        contracts: dict[str, ToolContract] = {}
        signatures: dict[str, JsonObject] = {}
        for name in sorted(run.tally.ran):
            declared, binder = self._declared.get(name), self._binders.get(name)
            if declared is not None:
                with guard("noting what a tool declares", run):
                    contracts[name] = _masked(declared, run.mask)
            if binder is not None:
                with guard("noting what a signature states", loses=False):
                    schema = run.mask.mask_schema(binder.schema())
                    if isinstance(schema, dict):
                        signatures[name] = schema
        return Stated(contracts=contracts, signatures=signatures)


def _masked(declared: ToolContract, mask: RunMasking) -> ToolContract:
    # Read anew: nobody looked at what it holds, and all of it goes into a file.
    plain = snapshot(declared)
    contract = from_plain(ToolContract, plain if isinstance(plain, dict) else {})
    schema = None if contract.schema is None else mask.mask_schema(contract.schema)
    return replace(
        contract,
        schema=schema if isinstance(schema, dict) else None,
        defaults=mask.mask_arguments(contract.defaults) if contract.defaults else {},
    )


traced_tools: Final = TracedTools()
