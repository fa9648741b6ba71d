"""How a scorer refuses a row that cannot be judged."""

from __future__ import annotations

import re

from agenttrace.errors import UnscorableError


class Refusing:
    """Turns what broken values raise, deep in a comparison, into this package's own refusal."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, _BROKEN):
            raise UnscorableError(
                f"The row cannot be judged: {type(error).__name__}: {error!s:.200}. It was given "
                "no verdict. Look for a value that is no JSON, or a rule that cannot be asked."
            ) from error


_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    re.error,
)
