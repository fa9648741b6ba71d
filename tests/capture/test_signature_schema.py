"""A function's signature says what types its arguments have, and none of its code is run."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any, Literal, Optional, Union

import pytest

import agenttrace
from agenttrace import ToolContract, trace
from agenttrace.capture._signature_schema import schema_of_parameters
from agenttrace.domain import Tools
from agenttrace.errors import ConfigurationError
from agenttrace.testing import recording

THIS = "its own object"


class Hostile:
    """An annotation that does harm when it is asked anything."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("asked")

    __hash__ = None  # type: ignore[assignment]


def type_of(annotation: Any) -> Any:
    parameter = Parameter("n", Parameter.KEYWORD_ONLY, annotation=annotation)
    schema: Any = schema_of_parameters([parameter], None)
    return schema["properties"]["n"].get("type", THIS)


@pytest.mark.parametrize(
    ("annotation", "stated"),
    [
        (int, "integer"),
        (float, "number"),
        (bool, "boolean"),
        (str, "string"),
        (None, "null"),
        (list, "array"),
        (list[int], "array"),
        (tuple[int, ...], "array"),
        (dict[str, int], "object"),
        (float | None, ["number", "null"]),
        (Optional[int], ["integer", "null"]),  # noqa: UP045
        (Union[int, str], ["integer", "string"]),  # noqa: UP007
        (Annotated[float, "in euros"], "number"),
        ("float", "number"),
        ("float | None", ["number", "null"]),
    ],
)
def test_types_of_the_language_are_stated(annotation, stated):
    assert type_of(annotation) == stated


@pytest.mark.parametrize(
    "annotation",
    [
        Parameter.empty,
        Any,
        Callable[[int], str],
        Literal["a"],
        Hostile,
        "Hostile",
        "float | Hostile",
        float | Hostile,
        Annotated[Hostile, 1],
        "x" * 10_000,
        17,
    ],
)
def test_what_is_no_type_of_the_language_says_nothing(annotation):
    assert type_of(annotation) is THIS


def test_an_annotation_is_asked_nothing():
    assert type_of(Hostile()) is THIS


def stated_after(tool: Callable[[], Any]) -> Tools:
    with recording() as recorded:
        tool()
    return recorded.evidence().tools


def test_a_tool_that_ran_states_its_signature_in_the_runs_end():
    @trace
    def refund(order_id: str, amount: float = 0.0) -> None: ...

    @trace
    def other() -> None: ...

    found = stated_after(lambda: refund("A-104")).signatures

    assert found == {
        "refund": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order_id"],
            "additionalProperties": False,
        }
    }


def test_a_method_takes_no_self_and_further_keywords_leave_the_schema_open():
    class Shop:
        @trace
        def refund(self, n: int, **more: Any) -> None: ...

        @classmethod
        @trace
        def order(cls, *n: int) -> None: ...

        @trace
        def close(self) -> None: ...

    def shop() -> None:
        Shop().refund(1)
        Shop.order(2)
        Shop().close()

    schemas: Any = stated_after(shop).signatures

    assert schemas["refund"]["properties"] == {"n": {"type": "integer"}}
    assert "additionalProperties" not in schemas["refund"]
    assert schemas["order"] == {"type": "object", "properties": {}}
    assert schemas["close"]["additionalProperties"] is False


def test_what_is_declared_beside_the_code_stands_in_the_evidence_and_its_secrets_are_masked():
    contract = ToolContract(rename={"sum": "amount"}, defaults={"api_key": "sk-very-secret-1234"})

    @trace(contract=contract)
    def refund(amount: int, api_key: str = "") -> None: ...

    found = stated_after(lambda: refund(1)).contracts["refund"]

    assert found.rename == {"sum": "amount"}
    assert "secret" not in repr(found)
    assert found.defaults.keys() == {"api_key"}


def test_a_declaration_that_is_no_json_leaves_the_run_whole():
    class Odd(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise ValueError("mine")

    @trace(contract=ToolContract(rename={1: Odd()}, unit=Odd()))  # type: ignore[dict-item]
    def refund(amount: int) -> int:
        return amount

    with recording() as recorded:
        assert refund(1) == 1
    evidence = recorded.evidence()

    assert len(evidence.executor) == 1
    assert evidence.completeness.settled is not False


def test_a_contract_of_another_kind_is_refused_where_it_is_written():
    with pytest.raises(ConfigurationError, match="takes a ToolContract, not dict"):
        trace(contract={"rename": {}})  # type: ignore[call-overload]


def test_a_schema_that_holds_itself_ends():
    own: dict[str, Any] = {"type": "object", "properties": {}}
    own["properties"]["again"] = own

    @trace(contract=ToolContract(schema=own))
    def refund(amount: int) -> int:
        return amount

    found = stated_after(lambda: refund(1))

    assert found.contracts["refund"].schema is not None


def test_a_contract_that_cannot_be_kept_is_a_loss_that_the_run_says(monkeypatch):
    monkeypatch.delenv("AGENTTRACE_STRICT", raising=False)

    @trace(contract=ToolContract(rename={"a": "amount"}, fold_case="b"))  # type: ignore[arg-type]
    def refund(amount: int) -> int:
        return amount

    with recording() as recorded:
        refund(1)
    evidence = recorded.evidence()

    assert evidence.tools.contracts == {}
    assert list(evidence.completeness.lost) == ["error:noting what a tool declares"]
    assert agenttrace.score(None, evidence).status == "inconclusive"
