"""Bring a data folder up to date: database, streams, static files, demo. Harmless twice."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import OperationalError, ProgrammingError, connection
from django.db.backends.postgresql.features import DatabaseFeatures
from django.db.migrations.exceptions import MigrationSchemaMissing

from aggregation.errors import Problem
from portal.clock import start_demo_clock
from portal.supervisor.log import say

# Machine time. After a power cut this machine may be up minutes before the database is.
PATIENCE_SECONDS, PAUSE_SECONDS = 300.0, 1.0


class Command(BaseCommand):
    help = "Migrate, install the streams, collect static files, make the demo's people and tasks."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        start_demo_clock()
        say("mayfly", "database")
        migrate()
        say("mayfly", "streams")
        call_command("install_streams", verbosity=0)
        collect_static()
        if settings.DEMO:
            call_command("make_demo_people", verbosity=0)
            call_command("seed_demo", verbosity=0)


def migrate() -> None:
    """Machines that are prepared at the same time take turns."""
    try:
        with _taking_turns():
            call_command("migrate", interactive=False, verbosity=0)
    except (OperationalError, psycopg.OperationalError) as error:
        raise Problem(
            f"The database cannot be brought up to date: {_in_a_line(error)}.",
            hint="Make room on the disk, let this user write there, or see that it answers.",
        ) from None
    except (MigrationSchemaMissing, ProgrammingError) as error:
        if "permission denied" not in str(error) and "must be owner" not in str(error):
            raise
        raise Problem(
            f"The user of MAYFLY_DATABASE_URL may not make tables: {_in_a_line(error)}.",
            hint="Make this user the owner of the database: ALTER DATABASE … OWNER TO ….",
        ) from None


@contextmanager
def _taking_turns() -> Iterator[None]:
    """The lock lasts as long as its connection, which is not the one that migrates."""
    if connection.vendor != "postgresql":
        yield
        return
    with connected(connection.get_connection_params()) as waiting:
        refuse_unfit(waiting.info)
        waiting.execute("SELECT pg_advisory_lock(hashtext('mayfly migrate'))")
        yield


def refuse_unfit(found: psycopg.ConnectionInfo) -> None:
    """What could not be mended later: tables of a database keep the way in which it writes text."""
    oldest = (DatabaseFeatures.minimum_database_version or (14,))[0]
    if found.server_version < 10_000 * oldest:
        raise Problem(
            f"The database is PostgreSQL {found.server_version // 10_000}.",
            hint=f"Mayfly needs version {oldest} or later.",
        )
    if (encoding := found.parameter_status("server_encoding")) != "UTF8":
        raise Problem(
            f"The database writes text as {encoding}, which cannot hold everybody's name.",
            hint="Make another: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
        )


def connected(parameters: dict[str, Any]) -> psycopg.Connection[Any]:
    """A connection of its own, once the database is there. Says what it waits for."""
    until, said = time.monotonic() + PATIENCE_SECONDS, ""
    while True:
        try:
            return psycopg.connect(**parameters, autocommit=True)
        except psycopg.OperationalError as error:
            if time.monotonic() >= until:
                raise
            reason = _in_a_line(error)
        if reason != said:
            say("mayfly", f"waiting for the database: {reason}")
            said = reason
        time.sleep(PAUSE_SECONDS)


def _in_a_line(error: Exception) -> str:
    return " ".join(str(error).split())


def collect_static() -> None:
    """Hash and compress the static files, unless the same ones have been already.

    Those of the program before stay until the next time: its front ends may still run.
    """
    mark = Path(settings.STATIC_ROOT) / ".sources"
    signature = _signature()
    if mark.exists() and mark.read_text() == signature:
        return
    say("mayfly", "static files")
    _clear_static()
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(signature)


def _clear_static() -> None:
    """All goes but what pages of the program before ask for."""
    root = Path(settings.STATIC_ROOT)
    try:
        asked = json.loads((root / "staticfiles.json").read_text())["paths"].values()
    except (FileNotFoundError, ValueError, KeyError):
        asked = ()
    kept = {name + packed for name in asked for packed in ("", ".gz", ".br")}
    for path in root.rglob("*"):
        if path.is_file() and str(path.relative_to(root)) not in kept:
            path.unlink()


def _signature() -> str:
    found = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            found.update(f"{path}\0".encode() + Path(storage.path(path)).read_bytes())
    return found.hexdigest()
