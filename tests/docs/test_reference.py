"""The reference is complete: names, error codes, constants and options all have an entry.

An entry is a heading, a list item or a table row that opens with the name as inline code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path

import pytest

import agenttrace
from agenttrace import cli, errors, semconv

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
OPENING = re.compile(r"^(?:#+ |\s*[-*] |\| *)((?:`[^`]+`(?:, )?)+)", re.MULTILINE)


def entries() -> set[str]:
    """Names that have an entry on some page of the reference."""
    found = set()
    for page in REFERENCE.rglob("*.md"):
        for opening in OPENING.findall(page.read_text("utf-8")):
            for name in re.findall(r"`([^`]+)`", opening):
                found |= {name, re.split(r"[(\s=]", name.removeprefix("agenttrace."))[0]}
    return found


def error_codes(base: type[errors.AgentTraceError]) -> Iterator[str]:
    """Codes of every error of the package."""
    yield base.code
    for error in base.__subclasses__():
        if error.__module__.startswith("agenttrace."):
            yield from error_codes(error)


def constants() -> Iterator[str]:
    """Attribute and span names that `semconv` holds, as plain values or in enumerations."""
    for name, value in vars(semconv).items():
        if name.startswith("_"):
            continue
        if isinstance(value, str) and name.isupper():
            yield value
        elif isinstance(value, EnumType) and value.__module__ == semconv.__name__:
            yield from (str(member.value) for member in value)


def test_every_public_name_has_an_entry():
    assert sorted(set(agenttrace.__all__) - entries()) == []


def test_every_error_code_has_an_entry():
    assert sorted(set(error_codes(errors.AgentTraceError)) - entries()) == []


def test_every_attribute_has_an_entry():
    assert sorted(set(constants()) - entries()) == []


def test_every_command_and_option_has_an_entry(capsys: pytest.CaptureFixture[str]):
    def help_of(*command: str) -> str:
        with pytest.raises(SystemExit):
            cli.main([*command, "--help"])
        return capsys.readouterr().out

    top = help_of()
    commands = re.search(r"\{([a-z,-]+)\}", top)
    assert commands, "agenttrace --help lists no commands"
    names = set(commands[1].split(","))
    text = top + "".join(map(help_of, names))
    options = set(re.findall(r"--[a-z][\w-]*", text))

    assert sorted((names | options) - {"--help"} - entries()) == []
