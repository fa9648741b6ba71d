"""`agenttrace check-cases`: say all that is wrong with case files, with the line of each fault."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from agenttrace.cli._output import put, put_json, say
from agenttrace.contracts import CaseCheck, CaseFault, check_cases
from agenttrace.report import visible
from agenttrace.scoring import normalizer_names


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH", help="case files, or folders of them"
    )
    parser.add_argument(
        "--strict", action="store_true", help="also warn of required calls that do not say why"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a fault")


def run(options: argparse.Namespace) -> int:
    """Check every path: 1 where a fault was found, 2 where a path cannot be read."""
    check = check_cases(*options.paths, strict=options.strict)
    for one in check.faults:
        if options.json:
            put_json(_plain(one))
        else:
            put(_line(one))
    for path, error in check.unreadable:
        where = "" if path in str(error) else f"{path}: "
        say(f"error [{error.code}]: {where}{error}")
    (say if options.json else put)(_summary(check))
    if check.unreadable:
        return 2
    return int(any(not one.is_warning for one in check.faults))


def _plain(fault: CaseFault) -> dict[str, object]:
    plain = asdict(fault)
    plain["severity"] = "warning" if plain.pop("is_warning") else "fault"
    return plain


def _line(fault: CaseFault) -> str:
    place = fault.file if fault.line is None else f"{fault.file}:{fault.line}"
    case = "" if fault.case_id is None else f"case {fault.case_id}: "
    field = "" if fault.field is None else f"{fault.field} "
    severity = "warning" if fault.is_warning else "fault"
    return visible(f"{place}: {severity}: {case}{field}{fault.found}; {fault.instead}")


def _summary(check: CaseCheck) -> str:
    warnings = sum(one.is_warning for one in check.faults)
    parts = [_counted(len(check.faults) - warnings, "fault"), _counted(warnings, "warning")]
    if check.unreadable:
        parts.append(f"{_counted(len(check.unreadable), 'path')} not read")
    read = f"{_counted(check.files, 'file')}, {_counted(check.cases, 'case')}"
    run_over = f"{_counted(len(normalizer_names()), 'normalizer')} run over their pairs"
    return f"{read}: {', '.join(parts)} · {run_over}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
