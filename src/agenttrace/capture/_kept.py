"""The records of one run once they are made: a line each in its file, the first ones in memory too.

Local evidence comes first. What cannot be written is kept in memory up to a limit, and what does
not fit there is said to be lost.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from agenttrace.capture._lines import LineWriter, read_back
from agenttrace.capture._settings import Settings
from agenttrace.records import dump_json


class KeptRecords:
    """Where the records of one run and recorder are kept."""

    def __init__(self, settings: Settings, writer: LineWriter | None) -> None:
        self.writer = writer
        self._settings = settings
        # Taken again by the thread that holds it: a finaliser runs anywhere.
        self._lock = threading.RLock()
        self._plains: list[dict[str, Any]] = []
        self._is_spilled = False

    def keep(self, plain: dict[str, Any], *, is_end: bool) -> bool:
        """Write one record; false if there was no place for it.

        Args:
            is_end: It is the run's end, which says what was lost, so it has a place in any case.
        """
        text = dump_json(plain) if self.writer is not None else ""
        with self._lock:
            if self.writer is not None and self.writer.write(text):
                if not self._is_spilled:
                    self._plains.append(plain)
                    if len(self._plains) > self._settings.memory_records:
                        self._plains.clear()
                        self._is_spilled = True
                return True
            if is_end or len(self._plains) < self._settings.memory_records_without_file:
                self._plains.append(plain)
                return True
            return False

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
