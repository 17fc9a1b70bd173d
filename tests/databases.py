"""A database of its own for a test that commits: a copy of a migrated template, in milliseconds.

Append-only triggers make emptying tables impossible, so tests that need real commits (threads,
locks, crashes) get a fresh copy instead.
"""

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

Ours = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def template_database(django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated, empty database of the kind this run uses."""
    from django.core.management import call_command

    folder = tmp_path_factory.mktemp("databases")
    name = str(folder / "template.sqlite3") if _is_sqlite() else f"template_{uuid.uuid4().hex}"
    with django_db_blocker.unblock():
        if not _is_sqlite():
            _on_server(f'CREATE DATABASE "{name}"')
        with default_is(name):
            call_command("migrate", interactive=False, verbosity=0)
    return name


@pytest.fixture
def first_database(template_database: str) -> str:
    """What a test's own database is a copy of; folders of tests may have more in theirs."""
    return template_database


@pytest.fixture
def own_database(first_database: str, django_db_blocker: Any, tmp_path: Path) -> Iterator[Ours]:
    """This test's own database. Threads enter `with own_database():` to close what they opened."""
    from django.db import connections

    with django_db_blocker.unblock():
        name = copied(first_database, tmp_path)

    @contextmanager
    def in_thread() -> Iterator[None]:
        try:
            yield
        finally:
            connections.close_all()

    with django_db_blocker.unblock(), default_is(name):
        yield in_thread


def copied(database: str, folder: Path) -> str:
    """The name of a copy of a database that nobody is connected to."""
    if _is_sqlite():
        return str(shutil.copy(database, folder / "own.sqlite3"))
    name = f"own_{uuid.uuid4().hex}"
    # Half of what it takes to write every page of it to the log, too.
    _on_server(f'CREATE DATABASE "{name}" TEMPLATE "{database}"', since_15=" STRATEGY FILE_COPY")
    return name


def is_anyone_waiting() -> bool:
    """For a lock in this database. SQLite has one for all, and nobody to ask."""
    from django.db import connection

    if connection.vendor == "sqlite":
        return True
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM "
    with connection.cursor() as cursor:
        cursor.execute(f"{waiting} pg_stat_activity WHERE datname = current_database())")
        return cursor.fetchone() is not None


@contextmanager
def default_is(name: str) -> Iterator[None]:
    """Point the default connection, in all threads, at another database for a while."""
    from django.db import connections

    before, settings = connections["default"], connections.settings["default"]
    pools = getattr(type(before), "_connection_pools", {})
    pool = pools.pop("default", None)
    connections.settings["default"] = {**settings, "NAME": name}
    del connections["default"]
    try:
        yield
    finally:
        connections["default"].close()
        if opened := pools.pop("default", None):
            opened.close()
        connections.settings["default"] = settings
        connections["default"] = before
        if pool is not None:
            pools["default"] = pool


def _is_sqlite() -> bool:
    from django.db import connection

    return connection.vendor == "sqlite"


def _on_server(statement: str, since_15: str = "") -> None:
    """Run a statement that PostgreSQL refuses inside a transaction or on the copied database, with
    what it takes since its version 15."""
    import psycopg
    from django.db import connection

    parameters = connection.get_connection_params()
    wanted = {k: parameters[k] for k in ("host", "port", "user", "password") if k in parameters}
    with psycopg.connect(dbname="postgres", autocommit=True, **wanted) as server:
        is_new = server.info.server_version >= 150_000
        server.execute(statement + since_15 if is_new else statement)
