"""The JSON values that every layer passes around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace._late import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

JsonScalar: TypeAlias = str | int | float | bool | None
JsonValue: TypeAlias = "JsonScalar | Sequence[JsonValue] | Mapping[str, JsonValue]"
JsonObject: TypeAlias = Mapping[str, JsonValue]


class Missing:
    """The type of `MISSING`: nothing stands there, which is not the same as null."""

    _instance: Missing | None = None

    def __new__(cls) -> Missing:
        """Always the one object, so that `is MISSING` holds after a copy or a pickle."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
