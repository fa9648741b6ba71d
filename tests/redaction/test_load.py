"""Where the key comes from."""

from __future__ import annotations

import logging
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from agenttrace.errors import ConfigurationError
from agenttrace.redaction import _load, find_redactor, load_redactor

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


def kept_key(folder: Path, text: str = HEX, mode: int = 0o600) -> Path:
    path = folder / ".agenttrace" / "key"
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(mode)
    return path


def open_to_others(folder: Path) -> None:
    kept_key(folder, mode=0o644)


def too_short(folder: Path) -> None:
    kept_key(folder, "oops")


def empty(folder: Path) -> None:
    kept_key(folder, "")


def a_link(folder: Path) -> None:
    (folder / "elsewhere").write_text(HEX)
    (folder / "elsewhere").chmod(0o600)
    (folder / ".agenttrace").mkdir()
    (folder / ".agenttrace" / "key").symlink_to(folder / "elsewhere")


def a_folder(folder: Path) -> None:
    (folder / ".agenttrace" / "key").mkdir(parents=True)


def not_to_be_read(folder: Path) -> None:
    kept_key(folder, mode=0o000)


UNUSABLE = {
    open_to_others: "chmod 600",
    too_short: "at least 16",
    empty: "at least 16",
    a_link: "is a link",
    a_folder: "is no file",
    not_to_be_read: "cannot be read",
}


def _skip_what_cannot_be(make) -> None:
    if os.name != "posix":
        pytest.skip("modes and links are POSIX")
    if make is not_to_be_read and os.geteuid() == 0:
        pytest.skip("root reads everything")


@pytest.mark.parametrize("make", UNUSABLE, ids=lambda make: make.__name__)
def test_a_key_file_that_cannot_be_used_is_refused_where_recording_is_set_up(make, tmp_path):
    _skip_what_cannot_be(make)
    make(tmp_path)

    for load in (load_redactor, find_redactor):
        with pytest.raises(ConfigurationError, match=UNUSABLE[make]) as refused:
            load(directory=tmp_path, environ={})
        assert str(tmp_path / ".agenttrace" / "key") in str(refused.value)
        assert HEX not in str(refused.value)
        assert "oops" not in str(refused.value)


@pytest.mark.parametrize("make", UNUSABLE, ids=lambda make: make.__name__)
def test_a_program_that_merely_records_goes_on_with_a_key_of_its_own(make, tmp_path, caplog):
    _skip_what_cannot_be(make)
    make(tmp_path)

    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        made = [load_redactor(None, tmp_path, {}, is_strict=False) for _ in range(2)]

    assert [one.source for one in made] == ["ephemeral", "ephemeral"]
    assert made[0].key_id != made[1].key_id
    assert len(caplog.records) == 1
    assert HEX not in caplog.text


def test_a_short_key_of_the_environment_is_passed_over_by_who_merely_records(tmp_path):
    environ = {"AGENTTRACE_KEY": "short"}

    assert load_redactor(None, tmp_path, environ, is_strict=False).source == "ephemeral"
    with pytest.raises(ConfigurationError, match="AGENTTRACE_KEY"):
        load_redactor(None, tmp_path, environ)


@pytest.mark.parametrize("key", ["short", b"short", "  abc  "])
def test_a_short_key_is_refused_with_what_to_do(key):
    with pytest.raises(ConfigurationError, match="at least 16"):
        load_redactor(key)


def _key_id_of(folder: str) -> str:
    return load_redactor(None, Path(folder), {}).key_id


def test_processes_that_start_at_once_agree_on_one_key(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        ids = pool.map(_key_id_of, [str(tmp_path)] * 8, chunksize=1)

    assert len(set(ids)) == 1
