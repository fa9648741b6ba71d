"""The records of one run once they are made: a line each in its file, the first ones in memory too.

Local evidence comes first. What cannot be written is kept in memory up to a limit, and what does
not fit there is said to be lost.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from agenttrace.capture._lines import LineWriter, read_back
from agenttrace.capture._settings import Settings
from agenttrace.records import dump_json

FILE_LOST: Final = "evidence-file"
"""Cause that is counted where records were in a file alone, and the file was removed."""


class KeptRecords:
    """Where the records of one run and recorder are kept."""

    def __init__(
        self,
        settings: Settings,
        writer: LineWriter | None,
        on_lost: Callable[[str], None] | None = None,
    ) -> None:
        self.writer = writer
        self._settings = settings
        self._on_lost = on_lost
        # Taken again by the thread that holds it: a finaliser runs anywhere.
        self._lock = threading.RLock()
        self._plains: list[dict[str, Any]] = []
        self._bytes = 0
        """Text of what is in memory."""
        self._is_spilled = False

    def keep(self, plain: dict[str, Any], *, is_end: bool) -> bool:
        """Write one record; false if there was no place for it.

        Args:
            is_end: It is the run's end, which says what was lost, so it has a place in any case.
        """
        text = dump_json(plain)
        with self._lock:
            writer = self.writer
            was_broken = writer is not None and writer.is_broken
            if writer is not None and writer.write(text):
                if not self._is_spilled:
                    self._remember(plain, len(text))
                    most = self._settings.memory_records
                    if len(self._plains) > most or self._bytes > self._settings.memory_bytes:
                        self._plains.clear()
                        self._bytes = 0
                        self._is_spilled = True
                return True
            is_gone = writer is not None and writer.is_gone and not was_broken
            is_file_lost = is_gone and self._is_spilled
            is_kept = is_end or self._has_place(len(text))
            if is_kept:
                self._remember(plain, len(text))
        # Not under the lock: who counts has a lock of its own, under which records are kept.
        if is_file_lost and self._on_lost is not None:
            self._on_lost(FILE_LOST)
        return is_kept

    def _remember(self, plain: dict[str, Any], size: int) -> None:
        self._plains.append(plain)
        self._bytes += size

    def _has_place(self, size: int) -> bool:
        settings = self._settings
        return (
            len(self._plains) < settings.memory_records_without_file
            and self._bytes + size <= settings.memory_bytes
        )

    def read(self) -> list[Mapping[str, Any]]:
        """Every record of the run in plain form, those of other recorders in its folder among them.

        Raises:
            UnreadableFileError: A file is gone, or may not be read.
        """
        with self._lock:
            plains: list[Mapping[str, Any]] = list(self._plains)
            is_spilled = self._is_spilled
        if self.writer is not None:
            plains.extend(read_back(self.writer, own=is_spilled))
        return plains

    def close(self) -> None:
        """Close the file; a later record opens it again."""
        with self._lock:
            if self.writer is not None:
                self.writer.close()
