"""What must be true before anything is started; each failure is one sentence with its remedy."""

import errno
import fcntl
import os
import socket
from pathlib import Path
from typing import TextIO

import psycopg
from django.conf import settings
from django.db import connection

from aggregation.errors import Problem


def lock_data_folder(data: Path) -> TextIO:
    """Hold the data folder for this process; two systems on one folder would fight."""
    file = (data / "up.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise Problem(
            f"Mayfly is already running on {data} (process {file.read().strip() or 'unknown'}).",
            hint="Stop it with Ctrl-C, or name another folder with MAYFLY_DATA.",
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def check_database() -> None:
    """Ask PostgreSQL once, outside the pool, which would try for long and not say why."""
    if connection.vendor != "postgresql":
        return
    try:
        psycopg.connect(**{**connection.get_connection_params(), "connect_timeout": 5}).close()
    except psycopg.OperationalError as error:
        raise Problem(
            f"The database does not answer ({' '.join(str(error).split())}).",
            hint="Check that PostgreSQL runs and that MAYFLY_DATABASE_URL is right.",
        ) from None


def check_scenario(name: str) -> None:
    """The fleet's own process would say the same, again and again."""
    folder = settings.BASE_DIR / "devices_sim" / "scenarios"
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if name != "none" and not path.exists():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.toml")))
        raise Problem(
            f"MAYFLY_SCENARIO is {name!r}, and there is no such scenario.",
            hint=f"There are {known}; none starts without phones.",
        )


def check_port(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except PermissionError:
            raise Problem(
                f"This user may not listen on port {port}.", hint="Choose one above 1023."
            ) from None
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, None) or isinstance(error, socket.gaierror):
                raise Problem(
                    f"MAYFLY_BIND is {address!r}, which is no address of this machine.",
                    hint="Use 127.0.0.1 for this machine alone, or 0.0.0.0 for all.",
                ) from None
            raise Problem(
                f"Mayfly cannot listen on {address}:{port} ({error.strerror}).",
                hint=f"Stop what runs there, or choose another port: make run PORT={port + 1}.",
            ) from None
