"""Where the key comes from: the argument, the environment, a file of the project or of the user.

Without any of these the key lives as long as the process: nothing it masks can be compared with
what another process masks, which is logged once. A key that is there and cannot be used is refused
where recording is set up on purpose; a program that merely records goes on with an ephemeral one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agenttrace.errors import ConfigurationError
from agenttrace.redaction._redactor import MIN_KEY_BYTES, Redactor

ENVIRONMENT: Final = "AGENTTRACE_KEY"
KEY_BYTES: Final = 32

_HEX: Final = re.compile(r"[0-9a-fA-F]{64}")
_MAX_FILE: Final = 4_096
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_log = logging.getLogger("agenttrace")
_warned: set[str] = set()


def load_redactor(
    key: str | bytes | None = None,
    directory: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    is_strict: bool = True,
    **options: Any,
) -> Redactor:
    """Make a redactor with the key that is at hand, or with a new one.

    In this order: the argument; `AGENTTRACE_KEY`; `.agenttrace/key` in the project;
    `agenttrace/key` in the user's configuration folder. Where there is none, the project's file is
    made, readable by its owner alone; where that cannot be, the user's; where that cannot be
    either, the key is ephemeral.

    Args:
        key: Text of 64 hexadecimal digits, or any other text or bytes of at least 16 bytes.
        directory: Folder of the project; the current one by default.
        is_strict: False goes on with an ephemeral key where a key cannot be used, and logs why.
        options: As for `Redactor`.

    Raises:
        ConfigurationError: A key that was given, or that is kept in a file, cannot be used.
    """
    made: Redactor
    try:
        try:
            found, source = _find(key, directory, environ)
        except ConfigurationError as error:
            if is_strict:
                raise
            _warn("unusable", "agenttrace masks with a key of this process alone: %s", error)
            found, source = secrets.token_bytes(KEY_BYTES), "ephemeral"
        made = Redactor(found, source=source, **options)
    except ValueError as error:
        raise ConfigurationError(f"No redactor was made: {error}.") from error
    return made


def find_redactor(
    directory: Path | None = None, environ: Mapping[str, str] = os.environ, **options: Any
) -> Redactor | None:
    """Make a redactor with the key that is there already, as a scorer needs; None without one.

    Looks where `load_redactor` looks, and makes nothing.

    Raises:
        ConfigurationError: A key that was found cannot be used.
    """
    try:
        known = _known(None, directory, environ)
        return None if known is None else Redactor(known[0], source=known[1], **options)
    except ValueError as error:
        raise ConfigurationError(f"No redactor was made: {error}.") from error


def _find(
    key: str | bytes | None, directory: Path | None, environ: Mapping[str, str]
) -> tuple[bytes, str]:
    known = _known(key, directory, environ)
    if known is not None:
        return known
    places = _places(directory, environ)
    for path in places:
        made = _create(path)
        if made is not None:
            return made, "file"
    _warn(
        "ephemeral",
        "agenttrace has no key and no folder to keep one in: masked values of this process cannot "
        "be compared with those of another. Set %s to 64 hexadecimal digits.",
        ENVIRONMENT,
    )
    return secrets.token_bytes(KEY_BYTES), "ephemeral"


def _known(
    key: str | bytes | None, directory: Path | None, environ: Mapping[str, str]
) -> tuple[bytes, str] | None:
    """The key that is there already, and where it came from."""
    if key is not None:
        return _decoded(key, "the key that was given"), "argument"
    if environ.get(ENVIRONMENT):
        return _decoded(environ[ENVIRONMENT], f"the variable {ENVIRONMENT}"), "environment"
    for path in _places(directory, environ):
        known = _read(path)
        if known is not None:
            return known, "file"
    return None


def _places(directory: Path | None, environ: Mapping[str, str]) -> list[Path]:
    places = []
    with contextlib.suppress(OSError):  # the current folder may be gone
        places.append((directory or Path.cwd()) / ".agenttrace" / "key")
    home = environ.get("XDG_CONFIG_HOME") or environ.get("APPDATA")
    if home is None and environ.get("HOME"):
        home = str(Path(environ["HOME"]) / ".config")
    if home:
        places.append(Path(home) / "agenttrace" / "key")
    return places


def _decoded(key: str | bytes, where: str) -> bytes:
    if isinstance(key, str):
        text = key.strip()
        key = bytes.fromhex(text) if _HEX.fullmatch(text) else text.encode("utf-8")
    if len(key) < MIN_KEY_BYTES:
        raise ConfigurationError(
            f"{where} has {len(key)} bytes; at least {MIN_KEY_BYTES} are needed. "
            "Nothing was set up. Make one with: "
            "python -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return key


def _read(path: Path) -> bytes | None:
    """The key in a file; None where there is no file.

    Raises:
        ConfigurationError: There is one, and it cannot be read, is no file of its owner's alone, or
            holds no key.
    """
    try:
        handle = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = "is a link" if path.is_symlink() else f"cannot be read ({error.strerror or error})"
        raise _unusable(path, reason, "make it a file that you may read") from error
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise _unusable(path, "is no file", "move it away")
        if os.name == "posix" and mode & 0o077:
            reason = f"is open to other users (mode {stat.S_IMODE(mode):04o})"
            raise _unusable(path, reason, f"run: chmod 600 {path}")
        text = os.read(handle, _MAX_FILE)
    finally:
        os.close(handle)
    return _decoded(text.decode("utf-8", "replace"), str(path))


def _unusable(path: Path, reason: str, then: str) -> ConfigurationError:
    return ConfigurationError(
        f"The key file {path} {reason}. No key was taken from it, and nothing was set up. "
        f"To go on, {then}; or pass a key, or set {ENVIRONMENT}."
    )


def _create(path: Path) -> bytes | None:
    """Write a new key; None where that cannot be. Another process may be doing the same."""
    text = secrets.token_hex(KEY_BYTES)
    draft = path.with_name(f".key-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _ignore(path.parent)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text + "\n")
        try:
            os.link(draft, path)
        finally:
            draft.unlink()
    except FileExistsError:
        return _read(path) if path.is_file() else None
    except OSError:
        return None
    return bytes.fromhex(text)


def _ignore(folder: Path) -> None:
    """Keep a project's key out of its repository."""
    ignore = folder / ".gitignore"
    if folder.name == ".agenttrace" and not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")


def _warn(kind: str, message: str, *facts: object) -> None:
    if kind not in _warned:
        _warned.add(kind)
        _log.warning(message, *facts)
