"""Ctrl-C while rows are judged: what was judged is said, and what was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.transcripts.logs import chat_row, write_log

LISTENING = """
import signal, sys
from agenttrace.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""
"""The command as a terminal starts it: what runs in the background is born deaf to Ctrl-C."""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_an_interrupted_command_says_what_was_judged_and_what_was_not(tmp_path):
    log = write_log(tmp_path / "log.jsonl", [chat_row("a"), chat_row("b")]).read_bytes()
    words = [sys.executable, "-u", "-c", LISTENING, "score", "--format", "openai-chat", "-"]
    pipe = subprocess.PIPE

    with subprocess.Popen(
        [*words, "--save", "saved.jsonl"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path
    ) as command:
        assert command.stdin is not None
        assert command.stdout is not None
        command.stdin.write(log)
        command.stdin.flush()
        first = command.stdout.readline()  # and now it waits for more rows, which never come
        second = command.stdout.readline()
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)

    assert (first, second, command.returncode) == (b"PASS  a\n", b"PASS  b\n", 130)
    assert out.startswith(b"2 rows: 2 passed, 0 failed, 0 inconclusive\n")
    said = "error: interrupted: 2 rows were judged, the others were not and saved.jsonl was not"
    assert said in err.decode()
    assert "Traceback" not in err.decode()
    assert [path.name for path in Path(tmp_path).iterdir()] == ["log.jsonl"]
