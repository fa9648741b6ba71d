"""A folder that is open: what is done in it never leaves it by a symbolic link.

Every step goes from a folder that is open already to a name in it, so a link that somebody puts in
between is not followed. Where the system has no such calls each name is looked at first instead.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

_BY_HANDLE: Final = {
    os.open,
    os.stat,
    os.unlink,
    os.rmdir,
} <= os.supports_dir_fd and os.scandir in os.supports_fd
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One name in a folder."""

    name: str
    is_folder: bool
    is_file: bool


class Folder:
    """One open folder."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open a folder by its path, which may lead over links.

        Raises:
            OSError: It is not there, or no folder.
        """
        if not _BY_HANDLE:
            if not path.is_dir():
                raise NotADirectoryError(f"{path} is no folder")
            return cls(path, None)
        return cls(path, os.open(path, _FLAGS | os.O_DIRECTORY))

    def enter(self, name: str) -> Folder:
        """Open a folder in it.

        Raises:
            OSError: It is not there, or no folder, or a link.
        """
        path = self.path / name
        if self._handle is None:
            if path.is_symlink() or not path.is_dir():
                raise NotADirectoryError(f"{path} is no folder")
            return Folder(path, None)
        flags = _FLAGS | os.O_DIRECTORY | _NO_LINK
        return Folder(path, os.open(name, flags, dir_fd=self._handle))

    def entries(self) -> Iterator[Entry]:
        """Its names, sorted; links are neither folders nor files."""
        with os.scandir(self.path if self._handle is None else self._handle) as found:
            for entry in sorted(found, key=lambda entry: entry.name):
                with suppress(OSError):
                    yield Entry(
                        name=entry.name,
                        is_folder=entry.is_dir(follow_symlinks=False),
                        is_file=entry.is_file(follow_symlinks=False),
                    )

    def status(self, name: str) -> os.stat_result:
        """What the system says of a name; of a link itself.

        Raises:
            OSError: It is not there.
        """
        if self._handle is None:
            return (self.path / name).lstat()
        return os.stat(name, dir_fd=self._handle, follow_symlinks=False)

    def read(self, name: str, size: int, *, from_end: bool = False) -> bytes:
        """The beginning or the end of a file.

        Raises:
            OSError: It is not there, no plain file, a link, or may not be read.
        """
        flags = _FLAGS | _NO_LINK | getattr(os, "O_NONBLOCK", 0)  # a pipe would be waited for
        if self._handle is None:
            handle = os.open(self.path / name, flags)
        else:
            handle = os.open(name, flags, dir_fd=self._handle)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{self.path / name} is no file")
            if from_end:
                file.seek(max(0, status.st_size - size))
            return file.read(size)

    def remove(self, name: str) -> None:
        """Remove a file; of a link the link.

        Raises:
            OSError: It cannot be removed.
        """
        if self._handle is None:
            (self.path / name).unlink()
        else:
            os.unlink(name, dir_fd=self._handle)

    def remove_empty(self, name: str) -> bool:
        """Remove a folder in it if that is empty; whether it was."""
        with suppress(OSError):
            if self._handle is None:
                (self.path / name).rmdir()
            else:
                os.rmdir(name, dir_fd=self._handle)
            return True
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
