"""What a tool declares is derived from what is there: a schema, a model, a signature."""

from __future__ import annotations

from typing import Any, Optional

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field

from agenttrace import ToolContract, tool_contract, trace
from agenttrace.errors import ConfigurationError

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "number"}}}


class Refund(BaseModel):
    order_id: str = Field(alias="orderId")
    amount: float
    note: Optional[str] = None  # noqa: UP045
    currency: str = Field(default="USD", validation_alias="ccy")


class Context:
    """What the program passes, not the model."""


def types_of(contract: ToolContract) -> dict[str, Any]:
    assert contract.schema is not None
    properties: Any = contract.schema["properties"]
    return {name: one.get("type") for name, one in properties.items()}


@pytest.mark.parametrize(
    "definition",
    [
        SCHEMA,
        {"name": "refund", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "refund", "parameters": SCHEMA}},
        {"name": "refund", "input_schema": SCHEMA},
        {"name": "refund", "inputSchema": SCHEMA},
    ],
)
def test_a_schema_is_taken_from_a_definition_as_providers_and_mcp_take_it(definition):
    assert tool_contract(definition) == ToolContract(schema=SCHEMA)


def test_the_aliases_of_a_model_are_renames():
    contract = tool_contract(Refund)

    assert contract.rename == {"orderId": "order_id", "ccy": "currency"}
    assert types_of(contract) == {
        "orderId": "string",
        "amount": "number",
        "note": None,
        "ccy": "string",
    }
    assert contract.schema is not None
    assert contract.schema["required"] == ["orderId", "amount"]


class Chosen(BaseModel):
    a: int = Field(validation_alias=AliasChoices("A", "first", "a"))
    b: int = Field(validation_alias=AliasPath("B"))
    c: int = Field(validation_alias=AliasPath("C", 0))


def test_each_choice_of_an_alias_is_a_rename_and_a_path_into_a_value_is_none():
    assert tool_contract(Chosen).rename == {"A": "a", "first": "a", "B": "b"}


def refund(order_id: str, amount: float, *, note: str | None = None) -> None:
    """Refund."""


def any_name(schema: str, _private: int, model_config: bool = False) -> None:
    """Parameters with names that no field of a model may have."""


class Shop:
    def refund(self, order_id: str, context: Context) -> None:
        """Refund."""

    def unknown(self, order_id: NoSuchType) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Annotated by a name that is nowhere."""

    def __call__(self, n: int) -> None:
        """Refund."""


class Receipt:
    def __init__(self, n: int) -> None:
        """Made by a tool that is a class."""


def named_cls(cls: str) -> None:
    """A plain function, whose first parameter has the name of a class method's."""


def harmful(n: "1 / 0") -> None:  # type: ignore[valid-type]  # noqa: UP037
    """Annotated by an expression that raises."""


def unfinished(n: "int[") -> None:  # type: ignore[syntax]  # noqa: F722
    """Annotated by what is no expression."""


@pytest.mark.parametrize(
    ("function", "types", "is_closed"),
    [
        (refund, {"order_id": "string", "amount": "number", "note": None}, True),
        (trace(refund), {"order_id": "string", "amount": "number", "note": None}, True),
        (any_name, {"schema": "string", "_private": "integer", "model_config": "boolean"}, True),
        (Shop().refund, {"order_id": "string", "context": None}, True),
        (Shop.refund, {"order_id": "string", "context": None}, True),
        (Shop().unknown, {"order_id": None}, True),
        (Shop(), {"n": "integer"}, True),
        (Receipt, {"n": "integer"}, True),
        (named_cls, {"cls": "string"}, True),
        (harmful, {"n": None}, True),
        (unfinished, {"n": None}, True),
        (lambda: None, {}, True),
        (lambda n=object, **_: None, {"n": None}, False),
    ],
)
def test_a_functions_parameters_are_its_schema(function, types, is_closed):
    contract = tool_contract(function)

    assert types_of(contract) == types
    assert contract.schema is not None
    assert (contract.schema["additionalProperties"] is False) == is_closed


def test_changes_are_declared_on_top():
    contract = tool_contract(
        Refund,
        unit={"amount": "x100"},
        rename={"why": "note"},
        coerce={"order_id": "string"},
        drop_null_optional=["note"],
        drop_unknown=("order_id", "amount"),
        defaults={"currency": "EUR"},
        normalize={"order_id": "trim"},
        fold_case=("currency",),
    )

    assert contract.rename == {"orderId": "order_id", "ccy": "currency", "why": "note"}
    assert (contract.unit, contract.coerce) == ({"amount": "x100"}, {"order_id": "string"})
    assert (contract.drop_null_optional, contract.fold_case) == (("note",), ("currency",))
    assert contract.drop_unknown == ("order_id", "amount")
    assert (contract.defaults, contract.normalize) == ({"currency": "EUR"}, {"order_id": "trim"})


class Broken(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    context: Context


@pytest.mark.parametrize(
    ("source", "words", "said"),
    [
        (3, {}, "not int"),
        (BaseModel, {}, "has no fields"),
        ({"name": "refund"}, {}, "no type: object and no properties"),
        (SCHEMA, {"normalize": {"n": "nope"}}, "unknown normalizer 'nope'"),
        (SCHEMA, {"unit": {"n": "100"}}, "not a unit"),
        (SCHEMA, {"coerce": {"n": "date"}}, "coerce"),
        (SCHEMA, {"rename": {"a": "n", "b": "n"}}, "two arguments"),
        (SCHEMA, {"fold_case": "n"}, "fold_case"),
    ],
)
def test_what_declares_nothing_is_refused_with_what_was_found(source, words, said):
    with pytest.raises(ConfigurationError, match="Nothing was declared") as caught:
        tool_contract(source, **words)
    assert said in str(caught.value)


def test_a_field_without_a_json_form_may_be_anything():
    assert types_of(tool_contract(Broken)) == {"context": None}
