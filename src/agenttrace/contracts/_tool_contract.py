"""What a tool declares, from what is there: a JSON Schema, a pydantic model, or a signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter
from typing import Any, Final, TypeAlias, get_type_hints

from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from agenttrace.contracts._contract_form import ContractForm
from agenttrace.contracts._form_faults import form_faults
from agenttrace.contracts._schema_form import tool_schema
from agenttrace.contracts._values import FormError
from agenttrace.domain import JsonObject, JsonValue, ToolContract
from agenttrace.errors import ConfigurationError

ToolSource: TypeAlias = Mapping[str, Any] | type[BaseModel] | Callable[..., Any]

_REST: Final = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def tool_contract(
    source: ToolSource,
    *,
    unit: Mapping[str, str] | None = None,
    rename: Mapping[str, str] | None = None,
    coerce: Mapping[str, str] | None = None,
    drop_null_optional: Sequence[str] | None = None,
    drop_unknown: Sequence[str] | None = None,
    defaults: JsonObject | None = None,
    normalize: Mapping[str, str] | None = None,
    fold_case: Sequence[str] | None = None,
) -> ToolContract:
    """Derive what a tool declares, so that its defaults, types and aliases need not be written.

    Args:
        source: The JSON Schema of its arguments, or a definition that holds it as providers and
            MCP take it; the pydantic model that its arguments are read by, whose aliases become
            renames; or the function, decorated or not.
        unit: Declared on top, as all that follow; what they mean stands with the case files.
        rename: Beside the aliases of a model.

    Raises:
        ConfigurationError: The source is none of these, its types have no JSON Schema, or a
            declaration does not hold.

    Example:
        >>> def refund(order_id: str, amount: float = 0.0): ...
        >>> tool_contract(refund, rename={"order": "order_id"}).schema["properties"]["amount"]
        {'default': 0.0, 'title': 'Amount', 'type': 'number'}
    """
    aliases: dict[str, str] = {}
    if isinstance(source, Mapping):
        schema = _given_schema(source)
    elif source is BaseModel:
        raise _no_schema("BaseModel", TypeError("it is the base of models, and has no fields"))
    elif isinstance(source, type) and issubclass(source, BaseModel):
        aliases = _aliases(source)
        schema = _model_schema(source)
    elif callable(source):
        schema = _model_schema(_model_of(source))
    else:
        raise ConfigurationError(
            f"tool_contract() takes a JSON Schema, a pydantic model or a function, not "
            f"{type(source).__name__}. Nothing was declared. Pass the function of the tool, or the "
            "schema that its model is offered."
        )
    declared = {
        "unit": unit,
        "rename": rename,
        "coerce": coerce,
        "drop_null_optional": drop_null_optional,
        "drop_unknown": drop_unknown,
        "defaults": defaults,
        "normalize": normalize,
        "fold_case": fold_case,
    }
    made = _checked(declared)
    return replace(made, rename={**aliases, **made.rename}, schema=schema)


class _Schema(GenerateJsonSchema):
    """What has no JSON form, such as an object that the program passes, may be anything."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - pydantic's own
        "skipped-choice",
        "non-serializable-default",
    }

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
        return {}


def _checked(declared: Mapping[str, Any]) -> ToolContract:
    """Declarations by the same rules as in a case's file."""
    tool = "tool"
    given = {
        name: {tool: list(one) if isinstance(one, tuple) else one}
        for name, one in declared.items()
        if one is not None
    }
    try:
        form = ContractForm.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=True, include_input=True)
        first = next(one for fault in faults for one in form_faults(fault))
        raise ConfigurationError(f"tool_contract(): {first}. Nothing was declared.") from None
    return form.to_domain().tools.get(tool, ToolContract())


def _given_schema(source: Mapping[str, Any]) -> JsonObject:
    try:
        return tool_schema(dict(source))
    except FormError as error:
        raise ConfigurationError(
            f"What tool_contract() was given {error.found}. Nothing was declared. "
            f"{error.instead[:1].upper()}{error.instead[1:]}."
        ) from None


def _model_schema(model: type[BaseModel]) -> JsonObject:
    try:
        schema: dict[str, JsonValue] = model.model_json_schema(schema_generator=_Schema)
    except (PydanticUserError, AttributeError) as error:
        raise _no_schema(model.__name__, error) from error
    return schema


def _aliases(model: type[BaseModel]) -> dict[str, str]:
    """The names that a model's fields have in JSON, where those are others."""
    found: dict[str, str] = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias or field.alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        for choice in choices:
            path = choice.path if isinstance(choice, AliasPath) else [choice]
            if len(path) == 1 and isinstance(path[0], str) and path[0] != name:
                found[path[0]] = name
    return found


def _model_of(function: Callable[..., Any]) -> type[BaseModel]:
    """A model whose fields are a function's parameters; the object it is bound to is none."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError) as error:
        raise _no_schema(name, error) from error
    try:
        hints = get_type_hints(_typed(function), include_extras=True)
    except Exception:  # noqa: BLE001 - annotations are evaluated, and may be any code
        hints = {}
    fields: dict[str, Any] = {}
    for index, one in enumerate(parameters):
        if one.kind in _REST or (index == 0 and _is_receiver(function, one.name)):
            continue
        default = ... if one.default is Parameter.empty else one.default
        # By an alias: a parameter may have a name that a model's field may not.
        fields[f"argument_{index}"] = (hints.get(one.name, Any), Field(default, alias=one.name))
    is_open = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
    config = ConfigDict(extra="allow" if is_open else "forbid", arbitrary_types_allowed=True)
    try:
        made: type[BaseModel] = create_model(name, __config__=config, **fields)
    except (PydanticUserError, PydanticSchemaGenerationError, NameError) as error:
        raise _no_schema(name, error) from error
    return made


def _typed(function: Callable[..., Any]) -> Any:
    """What holds the annotations of a callable: a class's `__init__`, an object's `__call__`."""
    function = inspect.unwrap(function)
    if inspect.isclass(function):
        return function.__init__
    return function if inspect.isroutine(function) else type(function).__call__


def _is_receiver(function: Callable[..., Any], first: str) -> bool:
    """Whether the first parameter is the object of a method that was taken from its class."""
    scope = getattr(inspect.unwrap(function), "__qualname__", "").rpartition(".")[0]
    return first in ("self", "cls") and bool(scope) and not scope.endswith("<locals>")


def _no_schema(name: str, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"tool_contract() cannot say what {name} takes: {error!s:.200}. Nothing was declared. Pass "
        "the JSON Schema of its arguments instead."
    )
