"""What `score` keeps of each row beside printing it: JSON rows, and the records as evidence.

A file that cannot be opened, or is one that is read, stops the command before a row is judged. One
that fails later costs only itself: the rows go on, and the error is said with the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from agenttrace.artifacts import WholeFile, artifact_lines
from agenttrace.cli._output import RowsFile, say_error
from agenttrace.errors import UnwritableFileError
from agenttrace.records import Record

_THEN: Final = "Nothing was scored and no file was changed. Name another file."


class KeptRows:
    """The files of one command; those that failed are let go of."""

    def __init__(self, output: Path | None, save: Path | None) -> None:
        """Open what was asked for.

        Raises:
            UnwritableFileError: A file or its folder cannot be written.
        """
        if output is not None and output.is_dir():
            raise UnwritableFileError(str(output), "it is a folder", then=_THEN)
        self.has_errors = False
        self._output: RowsFile | None = RowsFile(output)
        self._saved = None if save is None else WholeFile(save)
        self._is_empty = True

    def add(self, plain: dict[str, Any], records: Iterable[Record]) -> None:
        """Keep one row."""
        self._is_empty = False
        if self._output is not None:
            with self._watched("_output"):
                self._output.write(plain)
        if self._saved is not None:
            with self._watched("_saved"):
                self._saved.write(artifact_lines(records))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._saved is not None:
            if self._is_empty or kind is not None:
                self._saved.discard()
            with self._watched("_saved"):
                self._saved.__exit__(None, None, None)
        if self._output is not None:
            with self._watched("_output"):
                self._output.__exit__(None, None, None)

    @contextmanager
    def _watched(self, name: str) -> Iterator[None]:
        file: RowsFile | WholeFile | None = getattr(self, name)
        try:
            yield
        except UnwritableFileError as error:
            self.has_errors = True
            say_error(error)
            setattr(self, name, None)
            if isinstance(file, WholeFile):
                file.discard()
                file.__exit__(None, None, None)


def refuse_inputs(targets: Iterable[Path | None], inputs: Iterable[Path]) -> None:
    """Refuse to write over a file that is read, or two things into one file.

    Raises:
        UnwritableFileError: A target is one of the inputs or another target, by whatever name.
    """
    asked: dict[tuple[int, int] | Path, Path] = {}
    for target in targets:
        if target is None:
            continue
        place = _place(target)
        if place in asked:
            reason = "it is to hold something else already"
            raise UnwritableFileError(str(target), reason, then=_THEN)
        asked[place] = target
    # There may be as many inputs as rows, and where nothing is written none matters.
    for file in inputs if asked else ():
        wanted = asked.get(_place(file))
        if wanted is not None:
            raise UnwritableFileError(str(wanted), "it is one of the files to be read", then=_THEN)


def _place(path: Path) -> tuple[int, int] | Path:
    """What two names of one file have in common."""
    try:
        found = path.stat()
    except OSError:
        return path.absolute().resolve()
    return found.st_dev, found.st_ino
