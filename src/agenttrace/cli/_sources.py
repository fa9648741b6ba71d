"""What the paths of a command hold: evidence, or chat logs, told by the beginning of each file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agenttrace.cli._output import say
from agenttrace.readers import Problem, walk
from agenttrace.readers.transcripts import (
    TranscriptFormat,
    holds_rows,
    is_stream,
    log_files,
    not_recognised,
    recognise,
    why_unreadable,
)

_HEAD: Final = 4096
_EVIDENCE: Final = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:agenttrace|resourceSpans|resource_spans)"'
)


@dataclass(kw_only=True)
class Sources:
    """Paths sorted by what they hold."""

    evidence: list[Path] = field(default_factory=list)
    """What `read_evidence` takes, and what it is to refuse in its own words."""
    logs: dict[Path, TranscriptFormat] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def files(self) -> Iterator[Path]:
        """Every file that is going to be read, those in folders among them."""
        yield from self.logs
        for path in self.evidence:
            yield from (path,) if not path.is_dir() else (*log_files(path), *_otlp_files(path))

    def report_problems(self) -> None:
        """Say on stderr which files are neither."""
        for problem in self.problems:
            say(f"error [{problem.code}]: {problem}")


def find_sources(paths: Iterable[Path], form: str | None = None) -> Sources:
    """Sort paths into evidence and chat logs; what a log was taken for is said on stderr.

    Args:
        form: All of these are chat logs of this format. None: each file is looked at.
    """
    found = Sources()
    for path in paths:
        if form is not None:
            _take_all(path, TranscriptFormat(form), found)
        elif is_stream(path):
            found.problems.append(not_recognised(path))
        elif path.is_dir():
            _look_into(path, found)
        else:
            _look_at(path, found)
    return found


def _take_all(path: Path, form: TranscriptFormat, found: Sources) -> None:
    files = list(log_files(path))
    if not files:
        reason = "there is no chat log in this folder; looked for .jsonl and .json, also with .gz"
        found.problems.append(
            Problem(path=str(path), line=None, reason=reason, code="unreadable-file")
        )
    found.logs.update(dict.fromkeys(files, form))


def _look_into(folder: Path, found: Sources) -> None:
    """A folder without a chat log is evidence as a whole."""
    if not any(_form_of(file) for file in log_files(folder)):
        found.evidence.append(folder)
        return
    for file in log_files(folder):
        form = _form_of(file)
        if form is not None:
            _take(file, form, found)
        elif _is_evidence(file) or not file.name.endswith(".gz"):
            found.evidence.append(file)
    found.evidence += _otlp_files(folder)


def _otlp_files(folder: Path) -> list[Path]:
    return [file for file in walk(folder) if file.name.endswith(".otlp")]


def _look_at(file: Path, found: Sources) -> None:
    form = _form_of(file)
    if form is not None:
        _take(file, form, found)
    elif not _is_evidence(file) and (problem := why_unreadable(file)) is not None:
        found.problems.append(problem)
    elif not _is_evidence(file) and holds_rows(file):
        found.problems.append(not_recognised(file))
    else:
        found.evidence.append(file)


def _take(file: Path, form: TranscriptFormat, found: Sources) -> None:
    found.logs[file] = form
    say(f"note: {file} is read as {form}, told by its first row; --format says otherwise")


def _form_of(file: Path) -> TranscriptFormat | None:
    return None if _is_evidence(file) else recognise(file)


def _is_evidence(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return _EVIDENCE.match(opened.read(_HEAD)) is not None
    except OSError:
        return True
