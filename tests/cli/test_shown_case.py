"""What `score` and `show` print of a case hides what the records hide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agenttrace.artifacts import write_artifact
from agenttrace.cli import main
from agenttrace.redaction import load_redactor
from tests.readers.sample_run import ARGUMENTS, refund_run

KEY = "k" * 32
PROJECT = '[tool.agenttrace]\nmask_fields = ["ref_no"]\nmask_paths = ["/profile/answer"]\n'
MASKING = {"fields": ["ref_no"], "paths": ["/profile/answer"]}
RECORDED = {
    **ARGUMENTS,
    "password": "hunter22",
    "ref_no": "ref-hunter22",
    "profile": {"answer": "blue-hunter22"},
}

WRONG = "other-hunter33"
CALLS: dict[str, dict[str, Any]] = {
    "equal": {"args": RECORDED},
    "wrong": {
        "args": {**RECORDED, "password": WRONG, "ref_no": WRONG, "profile": {"answer": WRONG}}
    },
    "nested": {"args": {**RECORDED, "auth": {"user": WRONG, "list": [WRONG]}}},
    "in a text": {"args": {"note": json.dumps({"password": WRONG}), "cmd": f"x --token {WRONG}"}},
    "by path in a text": {"args": {"profile": json.dumps({"answer": WRONG})}},
    "bytes key": {"args": {"$bytes:cGFzc3dvcmQ=": WRONG}},
    **{
        f"{kind} at {place}": {
            "args": {"auth": {}, "profile": {}},
            "rules": {place: {kind: operand}},
        }
        for place in ("/password", "/ref_no", "/profile/answer", "/auth/user")
        for kind, operand in (
            ("equals", WRONG),
            ("one_of", [WRONG, "z"]),
            ("regex", WRONG),
            ("default", WRONG),
            ("schema", {"const": WRONG, "enum": [3312345, WRONG]}),
            ("range", {"min": 3312345, "max": 33123456}),
            ("tolerance", {"value": 3312345, "abs": 33123456}),
        )
    },
}
SECRETS = ("hunter22", WRONG, "3312345")


@pytest.fixture
def score_and_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """The output of both commands about a run, judged by a case of one call."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("AGENTTRACE_KEY", raising=False)
    Path("pyproject.toml").write_text(PROJECT)

    def run(call: dict[str, Any], recorded: Any, *, key: str | None) -> dict[str, str]:
        raw = json.dumps(recorded)
        write_artifact("e.jsonl", refund_run(raw=raw, executed=[recorded]))
        named = {"name": "issue_refund", **call}
        Path("cases.json").write_text(json.dumps({"id": "refund", "required": [named]}))
        if key is not None:
            monkeypatch.setenv("AGENTTRACE_KEY", key)
        said = {}
        for words in (["score", "e.jsonl"], ["show", "e.jsonl", "refund"]):
            for form in ([], ["--json"]):
                main([*words, "--cases", "cases.json", *form])
                captured = capsys.readouterr()
                said[" ".join([words[0], *form])] = captured.out + captured.err
        return said

    return run


def recorded_as(form: str) -> Any:
    redactor = load_redactor(KEY, **MASKING)
    how = {"masked": redactor.mask_expected, "digests": redactor.digest_expected}
    return how[form](RECORDED)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("form", ["masked", "digests"])
@pytest.mark.parametrize("key", [KEY, "another key of sixteen", None], ids=["key", "other", "none"])
def test_no_output_about_a_case_shows_a_secret_of_it(score_and_show, call, form, key):
    said = score_and_show(call, recorded_as(form), key=key)

    for command, text in said.items():
        assert "issue_refund" in text or text.startswith("PASS"), command
        assert [secret for secret in SECRETS if secret in text] == [], command


def test_what_is_no_secret_of_a_case_is_shown(score_and_show):
    call = {"args": {**RECORDED, "order_id": "A-999"}}

    said = score_and_show(call, recorded_as("masked"), key=KEY)

    assert "A-999" in said["show"]
    assert "A-999" in said["score"]
