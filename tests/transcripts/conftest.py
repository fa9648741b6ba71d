"""The command line, in an empty folder."""

from __future__ import annotations

import json

import pytest

from agenttrace.cli import main


class Said:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run
