"""One process on one of many machines: what has to be there, and the command it becomes."""

from __future__ import annotations

import socket
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from aggregation.partials.keys import KeyName
from portal.collection.keys import partial_keys
from portal.kept_secrets import kept_secret
from portal.supervisor import preflight, system
from portal.valkey import queue_client


@pytest.fixture
def keys(settings: Any, tmp_path: Path) -> Path:
    """A key folder of production in which nothing is."""
    settings.DEMO, settings.KEYS_DIR = False, tmp_path / "keys"
    settings.KEYS_DIR.mkdir(mode=0o700)
    return tmp_path / "keys"


def test_sessions_have_processes_and_workers_a_name_on_their_machine() -> None:
    words = " ".join(system.command("sessions", instance="2"))
    assert "-P prefork" in words
    assert "-n sessions@%h-2" in words
    assert "-n jobs@%h " in " ".join(system.command("jobs"))
    assert set(system.PROCESSES) <= {child.name for child in system.children()}


def test_it_does_not_start_without_the_keys_of_the_others(keys: Path) -> None:
    with pytest.raises(Problem, match="has no approval-key"):
        preflight.check_keys()


def test_a_front_end_does_not_start_on_a_port_that_is_taken(settings: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings.BIND, settings.PORT = taken.getsockname()
        with pytest.raises(Problem, match="set another MAYFLY_PORT"):
            call_command("process", "web")


def test_keys_are_made_once(keys: Path, db: None) -> None:
    call_command("make_keys", verbosity=0)
    preflight.check_keys()
    before = {path.name: path.read_bytes() for path in keys.iterdir() if path.is_file()}
    call_command("make_keys", verbosity=0)
    assert before == {path.name: path.read_bytes() for path in keys.iterdir() if path.is_file()}
    assert set(before) == set(preflight.KEYS)


def test_a_key_folder_that_is_not_mounted_gets_no_keys(keys: Path) -> None:
    """Nothing is sealed with a key that is gone when the folder is back."""
    for make in (lambda: kept_secret("approval-key"), partial_keys):
        with pytest.raises(FileNotFoundError, match="is it mounted"):
            make()
    assert list(keys.iterdir()) == []


def test_a_key_that_is_gone_is_not_made_anew_by_whoever_asks(keys: Path, db: None) -> None:
    """Devices pin some of them, and would refuse what another one signs."""
    call_command("make_keys", verbosity=0)
    for name in preflight.KEYS:
        (keys / name).unlink()
        with pytest.raises(FileNotFoundError, match=f"has no {name}"):
            kept_secret(name)
    assert [path.name for path in keys.iterdir()] == ["partials"]
    call_command("make_keys", verbosity=0)
    preflight.check_keys()


def test_keys_of_partials_are_made_in_a_folder_that_is_there(keys: Path, db: None) -> None:
    call_command("make_keys", verbosity=0)
    name = KeyName("trips", "2026-11-17", 1, date(2026, 11, 18))
    partial_keys().for_sealing(name)
    assert partial_keys().names() == (name,)


def test_queues_that_would_be_written_to_a_disk_are_refused(valkey: None) -> None:
    preflight.check_queues()
    queue_client().config_set("save", "60 1000")
    try:
        with pytest.raises(Problem, match="writes to its disk"):
            preflight.check_queues()
    finally:
        queue_client().config_set("save", "")


def test_queues_that_would_be_thrown_away_are_refused(valkey: None) -> None:
    client = queue_client()
    client.config_set("maxmemory-policy", "volatile-lru")
    try:
        preflight.check_queues()  # without a bound nothing is thrown away
        client.config_set("maxmemory", "1gb")
        with pytest.raises(Problem, match="maxmemory-policy volatile-lru"):
            preflight.check_queues()
        client.config_set("maxmemory-policy", "noeviction")
        preflight.check_queues()
    finally:
        client.config_set("maxmemory", "0")
        client.config_set("maxmemory-policy", "noeviction")
