"""The value of each setting, and where it came from.

Arguments come before `AGENTTRACE_*`, that before `[tool.agenttrace]` of the nearest
`pyproject.toml`, that before the standard `OTEL_*`. Only an argument that cannot be used is
refused: what stands in the environment or in a file is passed over and said once, because a
program that runs must not fail for it. Where passing over would show what was to be hidden, the
strictest value is taken, and of a list what can be used.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from agenttrace.errors import ConfigurationError
from agenttrace.settings._table import BY_NAME, PREFIX, TABLE, Setting, shown

DEFAULT: Final = "default"
ARGUMENT: Final = "argument"
_UNREADABLE: Final = (ValueError, TypeError, OverflowError)
_MAX_FILE: Final = 8 << 20
_MOST_LISTED: Final = 8


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The value of one setting."""

    setting: Setting
    value: Any
    origin: str
    """`argument`, a variable, a file, or `default`."""

    @property
    def state(self) -> str:
        """Value and origin for people; a secret is not shown."""
        is_hidden = self.setting.is_secret and self.value is not None
        return f"{'set, not shown' if is_hidden else shown(self.value)} ({self.origin})"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something in the environment or in a file that was passed over."""

    name: str
    message: str


@dataclass(kw_only=True)
class Resolution:
    """Every setting, and what could not be used."""

    settings: dict[str, Resolved] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return self.settings[name].value

    def origin(self, name: str) -> str:
        """Where a setting's value came from."""
        return self.settings[name].origin


def resolve(
    given: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Resolution:
    """Find the value of every setting.

    Args:
        given: Arguments of `configure()` that were not left out.
        environ: The environment; that of the process by default.
        directory: Where the search for `pyproject.toml` begins; the current folder by default.

    Raises:
        ConfigurationError: An argument is none of what it may be.
    """
    found = Resolution()
    path, table = _project(directory, found.problems)
    said = _Said(
        given=given or {},
        environ=os.environ if environ is None else environ,
        path=path,
        table=table,
        problems=found.problems,
    )
    found.problems.extend(_unknown_names(said))
    for setting in TABLE:
        found.settings[setting.name] = next(_options(setting, said))
    return found


def masking_of(resolved: Resolution) -> dict[str, Any]:
    """What is masked beside what always is, as `Redactor` takes it."""
    return {
        "fields": resolved["mask_fields"],
        "paths": resolved["mask_paths"],
        "mask": resolved["mask"],
    }


@dataclass(frozen=True, kw_only=True)
class _Said:
    """Everything that says something of settings."""

    given: Mapping[str, Any]
    environ: Mapping[str, str]
    path: Path
    """The project's file."""
    table: Mapping[str, Any]
    """What it says of us."""
    problems: list[Problem]


def _options(setting: Setting, said: _Said) -> Iterator[Resolved]:
    """What was said of a setting, by precedence; the last is its default."""
    environ, path, table, problems = said.environ, said.path, said.table, said.problems
    if setting.name in said.given:
        value = _read_argument(setting, said.given[setting.name])
        yield Resolved(setting=setting, value=_placed(setting, value, None), origin=ARGUMENT)
    variable = setting.variable
    if variable is not None and environ.get(variable):
        for value in _read(setting, variable, environ[variable], problems, is_text=True):
            yield Resolved(setting=setting, value=_placed(setting, value, None), origin=variable)
    if setting.key is not None and setting.key in table:
        where = f"{setting.key} in [tool.agenttrace] of {path}"
        # A list may stand there as it stands in the variable.
        is_text = setting.kind.read_each is not None and isinstance(table[setting.key], str)
        for value in _read(setting, where, table[setting.key], problems, is_text=is_text):
            placed = _placed(setting, value, path.parent)
            yield Resolved(setting=setting, value=placed, origin=str(path))
    standard = setting.standard
    if standard is not None and environ.get(standard.variable):
        value = standard.read(environ[standard.variable])
        if value is not None:
            yield Resolved(setting=setting, value=value, origin=standard.variable)
    value = _placed(setting, setting.default, None)
    yield Resolved(setting=setting, value=value, origin=DEFAULT)


def _read(
    setting: Setting, where: str, stated: Any, problems: list[Problem], *, is_text: bool
) -> Iterator[Any]:
    """The value of what stands in a variable or in the project's file; none is a problem."""
    kind = setting.kind
    try:
        value = kind.read_text(stated.strip()) if is_text else stated
        if kind.read_each is None or not isinstance(value, list):
            yield kind.read(value)
            return
    except _UNREADABLE:
        problems.append(_unusable(setting, where, stated))
        if kind.instead is not None:
            yield kind.instead
        return
    good, bad = [], []
    for each in value:
        try:
            good.append(kind.read_each(each))
        except _UNREADABLE:
            bad.append(each)
    if bad:
        problems.append(_unusable_entries(setting, where, bad, is_all=not good))
    if good or not bad:
        yield tuple(good)


def _read_argument(setting: Setting, value: Any) -> Any:
    try:
        return setting.kind.read(value)
    except _UNREADABLE:
        found = type(value).__name__
        if not setting.is_secret and isinstance(value, int | float | str):
            found = repr(value)[:60]
        raise ConfigurationError(
            f"configure({setting.name}={found}) takes {setting.kind.words}. Nothing was "
            "configured. Correct the argument, or leave it out."
        ) from None


def _placed(setting: Setting, value: Any, folder: Path | None) -> Any:
    """A path made absolute, so that it means the same wherever the program goes."""
    if value is True and isinstance(setting.default, Path):
        value, folder = setting.default, None
    if not setting.kind.is_path or not isinstance(value, Path):
        return value
    try:
        return (value if folder is None else folder / value).absolute()
    except OSError:  # the current folder is gone
        return value


def _unusable(setting: Setting, where: str, value: Any) -> Problem:
    found = "its value" if setting.is_secret else repr(value)[:60]
    instead = setting.kind.instead
    done = "It was passed over." if instead is None else f"`{instead}`, the strictest, was taken."
    return Problem(
        name=where.partition(" ")[0],
        message=f"{where} takes {setting.kind.words}, not {found}. {done} Correct it, or take it "
        "out.",
    )


def _unusable_entries(setting: Setting, where: str, bad: list[Any], *, is_all: bool) -> Problem:
    listed = ", ".join(repr(each)[:60] for each in bad[:_MOST_LISTED])
    more = len(bad) - _MOST_LISTED
    listed += f" and {more} more" if more > 0 else ""
    rest = "" if is_all else ", and the rest is used"
    return Problem(
        name=where.partition(" ")[0],
        message=f"{where} takes a {setting.kind.words}. Nothing can be masked by {listed}: passed "
        f"over{rest}. Correct it, or take it out.",
    )


# pyproject.toml


def _project(directory: Path | None, problems: list[Problem]) -> tuple[Path, Mapping[str, Any]]:
    """The nearest project file, and what it says of us."""
    path = _nearest(directory)
    if path is None:
        return Path("pyproject.toml"), {}
    reason: object
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_FILE + 1)
        if len(text) > _MAX_FILE:
            raise ValueError("it is over 8 MiB")
        table: Any = tomllib.loads(text.decode("utf-8"))
        for name in ("tool", "agenttrace"):
            table = table.get(name, {})
            if not isinstance(table, dict):
                raise TypeError(f"{name} is no table")
    except (OSError, RecursionError, *_UNREADABLE) as error:
        reason = getattr(error, "strerror", None) or error
        message = (
            f"{path} cannot be read ({reason!s:.200}), so nothing it says of agenttrace was used. "
            "Correct the file."
        )
        problems.append(Problem(name="pyproject.toml", message=message))
        return path, {}
    return path, table


def _nearest(directory: Path | None) -> Path | None:
    try:
        start = (directory or Path.cwd()).absolute()
        folders = (start, *start.parents)
        return next((p for folder in folders if (p := folder / "pyproject.toml").is_file()), None)
    except OSError:  # the current folder is gone
        return None


# What nobody knows


def _unknown_names(said: _Said) -> Iterator[Problem]:
    variables = [setting.variable for setting in TABLE if setting.variable is not None]
    for name in sorted(said.environ):
        if name.startswith(PREFIX) and name not in variables:
            yield _unknown(name, "variable", "", variables)
    keys = [setting.key for setting in TABLE if setting.key is not None]
    for key in sorted(said.table):
        place = f" in [tool.agenttrace] of {said.path}"
        setting = BY_NAME.get(key)
        if setting is not None and setting.is_secret:
            message = (
                f"{key}{place} was passed over: a secret has no place in a file that is shared. "
                f"Set {setting.variable}, and make a new key."
            )
            yield Problem(name=key, message=message)
        elif key not in keys:
            yield _unknown(key, "setting", place, keys)


def _unknown(name: str, what: str, place: str, known: list[str]) -> Problem:
    # Without what all have in common, which would make any two alike.
    by_rest = {each.removeprefix(PREFIX).lower(): each for each in known}
    near = get_close_matches(name.removeprefix(PREFIX).lower(), by_rest, n=1)
    advice = f"Did you mean {by_rest[near[0]]}?" if near else f"Known are: {', '.join(known)}."
    return Problem(
        name=name,
        message=f"{name}{place} is no {what} of agenttrace, so it changes nothing. {advice}",
    )
