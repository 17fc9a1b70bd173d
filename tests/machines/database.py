"""A real PostgreSQL on a machine of its own, run by a user who is not root."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psycopg

from tests.parts import eventually
from tests.pgserver import program

# Nobody: PostgreSQL refuses to run as root.
_NOBODY = 65534


def cluster(folder: Path, *, trusts: str) -> Path:
    """An empty cluster, which lets in whoever comes from these addresses."""
    folder.mkdir(mode=0o700)
    if os.getuid() == 0:
        shutil.chown(folder, _NOBODY, _NOBODY)
    command = [program("initdb"), "-D", str(folder), "-U", "mayfly", "-A", "trust", "-N"]
    subprocess.run(as_nobody(command), check=True, capture_output=True, timeout=120, cwd="/")
    with (folder / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {trusts} trust\n")
    return folder


def server(folder: Path, *, address: str, port: int) -> list[str]:
    """Tests kill processes, never the machine: nothing here need outlive a loss of power."""
    options = {
        "listen_addresses": address, "port": str(port), "unix_socket_directories": "",
        "fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB",
    }  # fmt: skip
    words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    return as_nobody([program("postgres"), "-D", str(folder), *words])


def wait_for(address: str) -> None:
    def answers() -> bool:
        try:
            psycopg.connect(address, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    eventually(answers)


def as_nobody(command: list[str]) -> list[str]:
    if os.getuid() != 0:
        return command
    who = str(_NOBODY)
    return ["setpriv", "--reuid", who, "--regid", who, "--clear-groups", *command]
