"""Which command was asked for, and how its errors end the program.

Only the module of the chosen command is loaded, so that `score` costs no tracer and no library that
another command looks at.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

from agenttrace._version import __version__
from agenttrace.cli._output import drop_output, say_error
from agenttrace.errors import AgentTraceError, UnwritableFileError

COMMANDS: Final = {
    "score": "judge saved evidence, against its cases where they are given",
    "show": "show one run: every record side by side, and the verdict",
    "repeats": "say how often each case passes over several runs, and what differs between them",
    "check-cases": "say all that is wrong with case files, with the line of each fault",
    "case-schema": "print the JSON Schema of case files, by which editors complete and check them",
    "explain": "say what a code of a verdict means, and what to do about it",
    "clean": "remove runs from a folder of local evidence, by age, case or run",
    "doctor": "say what is installed, hooked, writable and configured here",
    "demo": "record and judge an agent with known faults, offline",
}
BAD_INPUT: Final = 2
_BROKEN_PIPE: Final = 141
"""As a program that is ended by SIGPIPE: whoever read the results has gone, so none is claimed."""
_INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: everything passed. 1: a row failed. 2: the input was bad, and what could be judged was.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    _accept_any_character()
    parser, command = _parser(arguments)
    options = parser.parse_args(arguments)
    if command is None:
        parser.print_help(sys.stderr)
        return BAD_INPUT
    try:
        code: int = command.run(options)
        sys.stdout.flush()
    except AgentTraceError as error:
        say_error(error)
        return BAD_INPUT
    except BrokenPipeError:
        drop_output()
        return _BROKEN_PIPE
    except OSError as error:
        # Files have errors of their own; what is left is a full disk under the results.
        drop_output()
        reason = error.strerror or type(error).__name__
        say_error(UnwritableFileError(str(error.filename or "stdout"), reason))
        return BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _parser(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, Any]:
    """The parser, and the module of the command that the arguments name."""
    parser = argparse.ArgumentParser(
        prog="agenttrace",
        description="Records each tool call of an agent at three boundaries and names the first "
        "one where it changed.",
    )
    parser.add_argument("--version", action="version", version=f"agenttrace {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command")
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    module = None
    for name, purpose in COMMANDS.items():
        sub = commands.add_parser(
            name, help=purpose, description=f"{purpose[:1].upper()}{purpose[1:]}."
        )
        if name == chosen:
            module = import_module(f"agenttrace.cli._{name.replace('-', '_')}")
            module.add_options(sub)
    return parser, module


def _accept_any_character() -> None:
    """A terminal that lacks a character shows its number; it never ends the program.

    Neither does a stream that was closed before: then the exit code alone tells.
    """
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(OSError, ValueError):
                reconfigure(errors="backslashreplace")
