"""The folder of local evidence that a command reads where none is named."""

from __future__ import annotations

from pathlib import Path

from agenttrace.errors import NoRunError
from agenttrace.settings import resolve


def configured_folder() -> Path:
    """The folder that recording writes to by the environment and the project.

    A folder below the current one is named from there, as a person would.

    Raises:
        NoRunError: Records are kept in no folder, or there is nothing in it yet.
    """
    resolved = resolve()
    folder = resolved["evidence"]
    if not isinstance(folder, Path):
        raise NoRunError(
            f"No path was named, and evidence is kept in no folder ({resolved.origin('evidence')} "
            "says so). Nothing was read. Name a file or folder of evidence."
        )
    try:
        named = folder.relative_to(Path.cwd())
    except (ValueError, OSError):  # it is elsewhere, or the current folder is gone
        named = folder
    if not _holds_anything(folder):
        raise NoRunError(
            f"No path was named, and nothing was recorded yet in {named}. Nothing was read. Run "
            "the program that records, or name a file or folder of evidence."
        )
    return named


def _holds_anything(folder: Path) -> bool:
    """Whether there is something to read, or to say why it cannot be read."""
    try:
        return next(folder.iterdir(), None) is not None
    except FileNotFoundError:
        return False
    except OSError:
        return True
