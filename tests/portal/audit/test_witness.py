"""How far the log has come, kept beside the database: it never goes back, and damage is said."""

from __future__ import annotations

import errno
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from portal.audit import jobs, witness
from portal.audit.models import Entry, Head
from portal.audit.services import record
from portal.problems import Conflict


@pytest.fixture
def keys(settings: Any, tmp_path: Path) -> Path:
    settings.KEYS_DIR = tmp_path / "keys"
    settings.KEYS_DIR.mkdir(mode=0o700)
    return tmp_path / "keys"


@pytest.fixture
def log(own_database: Any, keys: Path, clock: Any) -> Any:
    """Adds an entry, for good."""

    def add() -> Entry:
        head = Head.objects.get_or_create(pk=1)[0]
        return record(action="test.happened", subject=head, clock=clock)

    add()
    return add


def remembered(keys: Path) -> int:
    return int(json.loads((keys / witness.FILE).read_bytes())["seq"])


def test_it_works(log: Any, keys: Path) -> None:
    witness.remember()
    assert remembered(keys) == 1
    log()
    witness.remember()
    assert remembered(keys) == 2
    assert not witness.is_behind()
    assert witness.trouble() == ""
    assert {path.stat().st_mode & 0o777 for path in keys.iterdir()} == {0o600}


def test_it_never_goes_back(log: Any, keys: Path, own_database: Any, monkeypatch: Any) -> None:
    """Another process comes further while one is about to put its file in place."""
    sync, others = os.fsync, []

    def remember() -> None:
        with own_database():
            witness.remember()

    def interrupted(descriptor: int) -> None:
        sync(descriptor)
        if not others:
            others.append(threading.Thread(target=remember))
            log()
            others[0].start()
            others[0].join(timeout=0.5)

    monkeypatch.setattr(os, "fsync", interrupted)
    witness.remember()
    others[0].join()
    assert remembered(keys) == 2


def test_a_disk_that_takes_nothing_stops_nobody(
    log: Any, keys: Path, monkeypatch: Any, caplog: Any
) -> None:
    witness.remember()
    log()
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        witness.remember()
    assert "witness.json cannot be written (No space left on device)" in caplog.text
    assert "Traceback" not in caplog.text
    assert sorted(path.name for path in keys.iterdir()) == [witness.FILE, witness.LOCK]
    assert remembered(keys) == 1
    witness.remember()
    assert remembered(keys) == 2


def full(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("content", [b"", b'{"seq": 1', b'{"seq": "one"}', b'{"hash": "\xff"}'])
def test_a_damaged_file_is_said_and_nothing_goes_on(log: Any, keys: Path, content: bytes) -> None:
    (keys / witness.FILE).write_bytes(content)
    assert "witness.json in the key folder is damaged" in witness.trouble()
    assert "accept_restore --since" in witness.trouble()
    for ask in (witness.is_behind, witness.remember, witness.refuse_behind):
        with pytest.raises(Conflict, match="Nobody can tell whether this database has forgotten"):
            ask()
    assert jobs.verify_new_entries.apply().failed()
    assert (keys / witness.FILE).read_bytes() == content


def test_a_folder_that_cannot_be_read_is_said_too(log: Any, keys: Path) -> None:
    (keys / witness.FILE).mkdir()
    assert "cannot be read" in witness.trouble()
    with pytest.raises(Conflict, match="cannot be read"):
        witness.is_behind()


def test_a_file_that_is_gone_is_not_begun_anew(log: Any, keys: Path) -> None:
    """Keys and database came from where copies of them are kept, and there is none of the file."""
    witness.remember()
    (keys / witness.FILE).unlink()
    assert "witness.json is not in the key folder any more" in witness.trouble()
    assert "accept_restore --since" in witness.trouble()
    log()
    for ask in (witness.is_behind, witness.remember, witness.refuse_behind):
        with pytest.raises(Conflict, match="Nobody can tell whether this database has forgotten"):
            ask()
    assert jobs.verify_new_entries.apply().failed()
    assert not (keys / witness.FILE).exists()
    witness.begin_anew()
    assert witness.trouble() == ""


def test_a_file_that_was_never_written_is_not_missed(
    log: Any, keys: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    witness.remember()
    assert not (keys / witness.FILE).exists()
    assert witness.trouble() == ""
