"""`manage.py prepare`: it waits for a database that is not there yet, and says what is wrong."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from portal.management.commands import prepare
from tests.machines.database import cluster, server
from tests.machines.units import unit
from tests.parts import ROOT, clean_environment, eventually, free_port

_WITHOUT_PATIENCE = """
import sys, django
django.setup()
from django.core.management import call_command
from aggregation.errors import Problem
from portal.management.commands import prepare
prepare.PATIENCE_SECONDS = 0.0
try:
    call_command("prepare")
except Problem as problem:
    sys.exit(f"mayfly: {problem}")
"""


def test_a_database_that_does_not_come_is_said_in_a_sentence(tmp_path: Path) -> None:
    settings = {
        "MAYFLY_DATA": str(tmp_path),
        "MAYFLY_DATABASE_URL": f"postgresql://mayfly:secret-word@127.0.0.1:{free_port()}/mayfly",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_PATIENCE],
        cwd=ROOT, env={**clean_environment(), **settings},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr.startswith("mayfly: The database cannot be brought up to date: connection")
    assert "see that it answers" in done.stderr
    assert "secret-word" not in done.stderr + done.stdout


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where another user may look, who runs PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="mayfly-late-") as found:
        Path(found).chmod(0o711)
        yield cluster(Path(found) / "data", trusts="127.0.0.1/32")


def test_it_waits_for_a_database_that_comes_late(folder: Path, capsys: Any) -> None:
    port, found = free_port(), []
    parameters = {"host": "127.0.0.1", "port": port, "user": "mayfly", "dbname": "postgres"}
    waiting = threading.Thread(target=lambda: found.append(prepare.connected(parameters)))
    waiting.start()
    said: list[str] = []

    def has_said() -> bool:
        said.append(capsys.readouterr().out)
        return "waiting for the database: connection failed" in "".join(said)

    eventually(has_said)
    process = subprocess.Popen(
        server(folder, address="127.0.0.1", port=port), cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        waiting.join(timeout=60)
        (connection,) = found
        with connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_it_does_not_wait_for_ever(monkeypatch: Any) -> None:
    monkeypatch.setattr(prepare, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(prepare, "PAUSE_SECONDS", 0.05)
    with pytest.raises(psycopg.OperationalError):
        prepare.connected({"host": "127.0.0.1", "port": free_port(), "dbname": "mayfly"})


def test_its_unit_has_more_patience_than_it_has() -> None:
    (seconds,) = unit("mayfly-prepare.service").values("TimeoutStartSec")
    assert float(seconds) >= prepare.PATIENCE_SECONDS + 600
