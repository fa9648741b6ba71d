"""Where the key comes from."""

from __future__ import annotations

import logging
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from agenttrace.errors import ConfigurationError
from agenttrace.redaction import _load, load_redactor

HEX = "ab" * 32


@pytest.fixture(autouse=True)
def _nothing_was_warned_of(monkeypatch):
    monkeypatch.setattr(_load, "_warned", set())


def test_the_argument_wins_over_the_environment_and_that_over_files(tmp_path):
    environ = {"HOME": str(tmp_path / "home"), "AGENTTRACE_KEY": "cd" * 32}

    given = load_redactor(HEX, tmp_path, environ)
    named = load_redactor(None, tmp_path, environ)
    kept = load_redactor(None, tmp_path, {"HOME": environ["HOME"]})

    assert [r.source for r in (given, named, kept)] == ["argument", "environment", "file"]
    assert len({r.key_id for r in (given, named, kept)}) == 3


def test_one_text_is_one_key_wherever_it_comes_from(tmp_path):
    (tmp_path / ".agenttrace").mkdir()
    path = tmp_path / ".agenttrace" / "key"
    path.write_text(HEX + "\n")
    path.chmod(0o600)
    made = [
        load_redactor(HEX),
        load_redactor(bytes.fromhex(HEX)),
        load_redactor(None, tmp_path, {"AGENTTRACE_KEY": HEX}),
        load_redactor(None, tmp_path, {}),
    ]

    assert len({r.token("v", "pin") for r in made}) == 1


def test_a_new_key_is_made_once_for_its_owner_alone_and_kept_out_of_the_repository(tmp_path):
    first = load_redactor(None, tmp_path, {})
    again = load_redactor(None, tmp_path, {})

    path = tmp_path / ".agenttrace" / "key"
    assert first.key_id == again.key_id
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(bytes.fromhex(path.read_text())) == 32
    assert (tmp_path / ".agenttrace" / ".gitignore").read_text() == "*\n"
    assert sorted(p.name for p in path.parent.iterdir()) == [".gitignore", "key"]


def test_the_users_key_is_used_where_the_project_has_none(tmp_path):
    home = tmp_path / "home"
    (home / ".config" / "agenttrace").mkdir(parents=True)
    (home / ".config" / "agenttrace" / "key").write_text(HEX)
    (home / ".config" / "agenttrace" / "key").chmod(0o600)

    found = load_redactor(None, tmp_path / "project", {"HOME": str(home)})

    assert found.key_id == load_redactor(HEX).key_id
    assert not (tmp_path / "project").exists()


def test_without_any_folder_the_key_is_ephemeral_and_that_is_said_once(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("")

    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        made = [load_redactor(None, blocked, {"HOME": str(blocked)}) for _ in range(3)]

    assert {r.source for r in made} == {"ephemeral"}
    assert len({r.key_id for r in made}) == 3
    assert len(caplog.records) == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_key_that_others_can_read_is_used_and_warned_of(tmp_path, caplog):
    load_redactor(None, tmp_path, {})
    (tmp_path / ".agenttrace" / "key").chmod(0o644)

    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        load_redactor(None, tmp_path, {})

    assert "chmod 600" in caplog.text


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="no O_NOFOLLOW")
def test_a_link_in_the_keys_place_is_not_followed(tmp_path):
    (tmp_path / ".agenttrace").mkdir()
    (tmp_path / "elsewhere").write_text(HEX)
    (tmp_path / ".agenttrace" / "key").symlink_to(tmp_path / "elsewhere")

    made = load_redactor(None, tmp_path, {})

    assert made.key_id != load_redactor(HEX).key_id


@pytest.mark.parametrize("key", ["short", b"short", "  abc  "])
def test_a_short_key_is_refused_with_what_to_do(key):
    with pytest.raises(ConfigurationError, match="at least 16"):
        load_redactor(key)


def test_a_spoilt_key_file_is_refused_and_named(tmp_path):
    (tmp_path / ".agenttrace").mkdir()
    path = tmp_path / ".agenttrace" / "key"
    path.write_text("oops")
    path.chmod(0o600)

    with pytest.raises(ConfigurationError) as refused:
        load_redactor(None, tmp_path, {})

    assert str(path) in str(refused.value)
    assert "oops" not in str(refused.value)


def _key_id_of(folder: str) -> str:
    return load_redactor(None, Path(folder), {}).key_id


def test_processes_that_start_at_once_agree_on_one_key(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        ids = pool.map(_key_id_of, [str(tmp_path)] * 8, chunksize=1)

    assert len(set(ids)) == 1
