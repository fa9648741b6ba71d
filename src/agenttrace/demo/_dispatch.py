"""From a model's call to a run of a tool: parse, prepare, and call; each can carry a fault.

This is the adapter of the demo's agent. What it makes of a call is put on record by `adapter`
around the whole dispatch, so the tool that runs inside answers that call. A ValueError before the
tool is entered refuses the call; the model is told of it.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agenttrace.capture import adapter
from agenttrace.demo._conversation import CallRequest
from agenttrace.demo._tools import SCHEMAS, Tool

Arguments: TypeAlias = dict[str, Any]

_TYPES: Final[Mapping[str, type]] = {"string": str, "integer": int}
_MOST_CENTS: Final = 5000


def parse_strictly(text: str) -> Arguments:
    """Read argument text; anything but one whole JSON object is refused."""
    arguments = json.loads(text)
    if not isinstance(arguments, dict):
        raise ValueError("the arguments are no JSON object")
    return arguments


def check_types(name: str, arguments: Arguments) -> Arguments:
    """Refuse what does not fit the tool's schema; nothing is coerced."""
    schema = SCHEMAS.get(name)
    if schema is None:
        raise ValueError(f"there is no tool {name}")
    known = schema["properties"]
    for key in [*known, *arguments]:
        if key not in known:
            raise ValueError(f"{name} takes no {key}")
        if key not in arguments:
            raise ValueError(f"{name} needs {key}")
        kind = known[key]["type"]
        if type(arguments[key]) is not _TYPES[kind]:
            raise ValueError(f"{key} must be of type {kind}")
    return arguments


def call_as_it_is(tool: Tool) -> Tool:
    """Put nothing between dispatch and tool."""
    return tool


# The faults


def parse_tolerantly(text: str) -> Arguments:
    """Fault: close whatever text a cut-off answer left open, as many frameworks do."""
    for closing in ("", "}", '"}', "]}", '"]}'):
        try:
            return dict(json.loads(re.sub(r",\s*$", "", text) + closing))
        except ValueError:
            continue
    return {}


def take_cents_for_hundredths(name: str, arguments: Arguments) -> Arguments:
    """Fault: convert an amount that was in the tool's unit already."""
    arguments = check_types(name, arguments)
    if "amount_cents" in arguments:
        arguments["amount_cents"] //= 100
    return arguments


def cap_refunds(tool: Tool) -> Tool:
    """Fault: a limit that lowers the amount where it should refuse the call."""

    def capped(**arguments: Any) -> Any:
        if arguments.get("amount_cents", 0) > _MOST_CENTS:
            arguments["amount_cents"] = _MOST_CENTS
        return tool(**arguments)

    return capped


def retry_lost_answers(tool: Tool) -> Tool:
    """Fault: run a tool again when its answer was lost, although its effect was not."""
    is_lossy = tool.__name__ == "issue_refund"

    def retried(**arguments: Any) -> Any:
        result = tool(**arguments)
        return tool(**arguments) if is_lossy else result

    async def retried_async(**arguments: Any) -> Any:
        result = await tool(**arguments)
        return await tool(**arguments) if is_lossy else result

    return retried_async if inspect.iscoroutinefunction(tool) else retried


# The adapter


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatch:
    """How calls become runs; without faults unless one is put in."""

    parse: Callable[[str], Arguments] = parse_strictly
    prepare: Callable[[str, Arguments], Arguments] = check_types
    wrap: Callable[[Tool], Tool] = call_as_it_is

    def run(self, call: CallRequest, tools: Mapping[str, Tool]) -> str:
        """Run one call; what to tell the model."""
        try:
            with adapter(name=call.name, call_id=call.call_id, sees="all") as adapted:
                arguments = self._arguments(call)
                adapted.hand_on(call.name, arguments)
                return json.dumps(self.wrap(tools[call.name])(**arguments))
        except ValueError as error:
            return _told(error)

    async def run_async(self, call: CallRequest, tools: Mapping[str, Tool]) -> str:
        """Run one call of an asynchronous tool; what to tell the model."""
        try:
            with adapter(name=call.name, call_id=call.call_id, sees="all") as adapted:
                arguments = self._arguments(call)
                adapted.hand_on(call.name, arguments)
                return json.dumps(await self.wrap(tools[call.name])(**arguments))
        except ValueError as error:
            return _told(error)

    def _arguments(self, call: CallRequest) -> Arguments:
        return self.prepare(call.name, self.parse(call.text))


SOUND: Final = Dispatch()


def _told(error: ValueError) -> str:
    return json.dumps({"error": str(error)})
