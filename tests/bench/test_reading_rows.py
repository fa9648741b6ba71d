from __future__ import annotations

import json

import pytest

from agenttrace.cli import main
from bench import peers
from bench._row_files import write_rows


@pytest.mark.parametrize("kind", ["evidence", "otlp", "chat"])
def test_one_in_ten_of_the_measured_rows_fails(kind, tmp_path, capsys):
    write_rows(kind, 20, 2, tmp_path)
    cases = [] if kind == "chat" else ["--cases", str(tmp_path / "cases.json")]

    code = main(["score", str(tmp_path / "files"), *cases, "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert code == 1
    assert [row["verdict"] for row in rows] == (["pass"] * 9 + ["fail"]) * 2


def test_other_scorers_that_are_not_installed_are_said_with_what_installs_them(monkeypatch):
    monkeypatch.setenv("BENCH_PEERS_PYTHON", "no-such-folder/bin/python")

    with pytest.raises(RuntimeError, match="`make bench NAME=peers` installs them"):
        list(peers.measure())
