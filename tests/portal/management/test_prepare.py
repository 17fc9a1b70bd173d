"""`manage.py prepare`: it waits for a database that is not there yet, and says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db.backends.postgresql.features import DatabaseFeatures

from aggregation.errors import Problem
from portal.management.commands import prepare
from tests.machines.database import cluster, server, wait_for
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


def prepared(tmp_path: Path, address: str) -> subprocess.CompletedProcess[str]:
    settings = {
        "MAYFLY_DATA": str(tmp_path),
        "MAYFLY_DATABASE_URL": address,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT_PATIENCE],
        cwd=ROOT, env={**clean_environment(), **settings},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_database_that_does_not_come_is_said_in_a_sentence(tmp_path: Path) -> None:
    done = prepared(tmp_path, f"postgresql://mayfly:secret-word@127.0.0.1:{free_port()}/mayfly")
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
    with running(folder, port):
        waiting.join(timeout=60)
        (connection,) = found
        with connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


@contextmanager
def running(folder: Path, port: int) -> Iterator[None]:
    process = subprocess.Popen(
        server(folder, address="127.0.0.1", port=port), cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_a_database_that_cannot_be_ours_is_said_in_a_sentence(
    folder: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    port = free_port()
    place = f"127.0.0.1:{port}"
    with running(folder, port):
        wait_for(f"postgresql://mayfly@{place}/postgres")
        with psycopg.connect(f"postgresql://mayfly@{place}/postgres", autocommit=True) as owner:
            owner.execute("CREATE ROLE guest LOGIN")
            owner.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
            done = prepared(tmp_path, f"postgresql://guest@{place}/postgres")
            assert "may not make tables" in done.stderr
            assert "Make this user the owner" in done.stderr
            assert "Traceback" not in done.stderr
            done = prepared(tmp_path, f"postgresql://mayfly@{place}/latin")
            assert done.stderr.startswith("mayfly: The database writes text as LATIN1")
            prepare.refuse_unfit(owner.info)
            monkeypatch.setattr(DatabaseFeatures, "minimum_database_version", (99,))
            with pytest.raises(Problem, match="needs version 99 or later"):
                prepare.refuse_unfit(owner.info)


def test_it_does_not_wait_for_ever(monkeypatch: Any) -> None:
    monkeypatch.setattr(prepare, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(prepare, "PAUSE_SECONDS", 0.05)
    with pytest.raises(psycopg.OperationalError):
        prepare.connected({"host": "127.0.0.1", "port": free_port(), "dbname": "mayfly"})


def test_its_unit_has_more_patience_than_it_has() -> None:
    (seconds,) = unit("mayfly-prepare.service").values("TimeoutStartSec")
    assert float(seconds) >= prepare.PATIENCE_SECONDS + 600


@pytest.fixture
def sources(settings: Any, tmp_path: Path) -> Path:
    """The static files of a program, and nothing collected yet."""
    (sources := tmp_path / "sources").mkdir()
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [sources], tmp_path / "static"
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    whitenoise = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": whitenoise}}
    return sources


def test_static_files_of_the_program_before_stay_while_it_may_run(sources: Path) -> None:
    """Its front ends are restarted after this, and answer till then."""
    collected: list[set[str]] = []
    for version in ("one", "two", "three"):
        (sources / "look.css").write_text(f"/* {version} */" + 300 * " ")
        # As packages may have it: older than what was collected.
        os.utime(sources / "look.css", (0, 0))
        prepare.collect_static()
        assert version in (sources.parent / "static" / "look.css").read_text()
        collected.append({one.name for one in (sources.parent / "static").glob("look.*.css*")})
    first, second, third = (collected[0], collected[1] - collected[0], collected[2] - collected[1])
    assert collected == [first, first | second, second | third]
    assert [len(one) for one in (first, second, third)] == [2, 2, 2], "each is compressed, too"
