"""What is stated of the tools of a run: by the case, beside their code, and in their schemas."""

from __future__ import annotations

from agenttrace._dataclass import replace
from agenttrace.domain import Case, Evidence, ToolContract
from agenttrace.errors import UnscorableError
from agenttrace.scoring._normalizers import normalizer_names


def with_stated(case: Case, evidence: Evidence) -> Case:
    """A case, its contract with what the records state of tools where the case itself says nothing.

    A tool that the case declares is as the case declares it. Its schema is the one the case gives,
    then the one that its model was offered, then the one that its owner declared.
    """
    contract = case.contract
    recorded, offered = evidence.tools.contracts, evidence.tools.schemas
    if not recorded and not offered:
        return case
    tools: dict[str, ToolContract] = {**recorded, **contract.tools}
    for name in sorted(recorded.keys() - contract.tools.keys()):
        _check_normalizers(name, recorded[name])
    for name in sorted({*recorded, *offered}):
        known = (contract.tool(name).schema, offered.get(name), recorded.get(name, _NONE).schema)
        schema = next((one for one in known if one is not None), None)
        tools[name] = replace(tools.get(name, _NONE), schema=schema)
    return replace(case, contract=replace(contract, tools=tools))


def _check_normalizers(tool: str, declared: ToolContract) -> None:
    for argument, name in declared.normalize.items():
        if name not in normalizer_names():
            raise UnscorableError(
                f"The contract that is recorded of the tool {tool!r:.60} compares its argument "
                f"{argument!r:.60} by the normalizer {name!r:.40}, which nobody registered here. "
                "The run was not judged. Register it first, or correct @trace(contract=...)."
            )


_NONE = ToolContract()
