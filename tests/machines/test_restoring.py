"""What the page on operations says on backups, word for word, on a real PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.machines.database import cluster, program, server, wait_for
from tests.parts import free_port
from tests.portal.pages.reading_docs import fences


@pytest.fixture
def address() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="mayfly-restored-") as found:
        Path(found).chmod(0o711)
        folder, port = cluster(Path(found) / "data", trusts="127.0.0.1/32"), free_port()
        process = subprocess.Popen(
            server(folder, address="127.0.0.1", port=port), cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(place := f"postgresql://mayfly@127.0.0.1:{port}/postgres")
            yield place
        finally:
            process.terminate()
            process.wait(timeout=30)


def follow(kind: str, *, address: str, backup: Path) -> int:
    (block,) = fences("operations", f"sh {kind}")
    path = f"{Path(program('psql')).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "MAYFLY_DATABASE_URL": address, "BACKUP": str(backup)}
    done = subprocess.run(
        ["sh", "-ec", block.content], env=env, capture_output=True, timeout=60, check=False
    )
    return done.returncode


def test_a_backup_comes_back_whole_or_not_at_all(address: str, tmp_path: Path) -> None:
    backup = tmp_path / "mayfly.dump"
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("CREATE TABLE task (id int PRIMARY KEY)")
        database.execute("CREATE TABLE paused (task int)")
        database.execute("INSERT INTO task VALUES (1)")
        assert follow("backup", address=address, backup=backup) == 0
        database.execute("INSERT INTO task VALUES (2)")
        database.execute("INSERT INTO paused VALUES (2)")
        # As the migrations of a later version do.
        database.execute("CREATE TABLE later (task int REFERENCES task)")
        assert follow("restore", address=address, backup=backup) != 0
        assert database.execute("SELECT count(*) FROM task").fetchone() == (2,)
        assert database.execute("SELECT count(*) FROM paused").fetchone() == (1,)
        database.execute("DROP TABLE later")
        assert follow("restore", address=address, backup=backup) == 0
        assert database.execute("SELECT id FROM task").fetchall() == [(1,)]
        assert database.execute("SELECT count(*) FROM paused").fetchone() == (0,)
