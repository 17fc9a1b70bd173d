"""What must be true before anything is started; each failure is one sentence with its remedy."""

import errno
import fcntl
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import psycopg
import redis
from django.conf import settings
from django.db import connection

from aggregation.errors import Problem
from portal.valkey import queue_client

# Everything that is signed, checked or named with a secret.
KEYS = ("approval-key", "people-key", "release-key", "token-key", "worker-key")


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


def check_keys() -> None:
    """Several machines share one key folder. One where it is not mounted would make keys of its
    own, with which it trusts no approval and opens no sum of the others."""
    folder = Path(settings.KEYS_DIR)
    missing = [name for name in KEYS if not (folder / name).exists()]
    if missing and not settings.DEMO:
        raise Problem(
            f"The key folder {folder} has no {missing[0]}.",
            hint="Mount the folder that all machines share; for a new installation, make its "
            "keys once: manage.py make_keys.",
        )


def check_queues() -> None:
    """What devices send waits there, sealed, and may reach no disk and no other server; nor may it
    be thrown away, since devices were told that it is there."""
    client = queue_client()
    # One name at a time: Redis before version 7 takes no more.
    saves = _asked(lambda: client.config_get("save"))
    appends = _asked(lambda: client.config_get("appendonly"))
    copies = _asked(lambda: client.info("replication")).get("connected_slaves", 0)
    if saves.get("save") or appends.get("appendonly") == "yes" or copies:
        raise Problem(
            "The server of MAYFLY_QUEUE_URL writes to its disk, or has a replica.",
            hint='Turn both off, such as with save "" and appendonly no in its configuration.',
        )
    memory = _asked(lambda: client.info("memory"))
    policy = memory.get("maxmemory_policy", "noeviction")
    if memory.get("maxmemory") and policy != "noeviction":
        raise Problem(
            "The server of MAYFLY_QUEUE_URL throws away what waits in it when its memory is full "
            f"(maxmemory-policy {policy}).",
            hint="Set maxmemory-policy noeviction: devices are then told to come later.",
        )


def _asked(ask: Callable[[], Any]) -> dict[str, Any]:
    """What the server says; nothing where it does not let us ask."""
    try:
        return dict(ask())
    except redis.ResponseError:
        return {}
    except redis.RedisError:
        raise Problem(
            "The server of MAYFLY_QUEUE_URL does not answer.",
            hint="Check that it runs, and that the address is right.",
        ) from None


def check_scenario(name: str) -> None:
    """The fleet's own process would say the same, again and again."""
    folder = settings.BASE_DIR / "devices_sim" / "scenarios"
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if name != "none" and not path.exists():
        known = ", ".join(sorted(each.stem for each in folder.glob("*.toml")))
        raise Problem(
            f"MAYFLY_SCENARIO is {name!r}, and there is no such scenario.",
            hint=f"There are {known}; MAYFLY_SCENARIO=none starts without phones.",
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
                hint=f"Stop what runs there, or set another MAYFLY_PORT: make run PORT={port + 1}.",
            ) from None
