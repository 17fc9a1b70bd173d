"""Every process of one Mayfly, as its supervisor starts it, but each ours to kill and to freeze."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis
from celery import Celery

from tests.faults.stores import Rows, Store
from tests.parts import ROOT, Site, clean_environment, eventually, free_port

PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Parts(Site):
    """A system in parts: a Valkey, front ends, jobs, beat, and any number of session workers."""

    run_dir: Path
    store: Store
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # Of all session workers there ever were; none is called like another.
    _workers: int = 0

    @property
    def queue(self) -> redis.Redis:
        return redis.Redis.from_url(self.env["MAYFLY_QUEUE_URL"], socket_timeout=5)

    def rows(self, sql: str, *given: object) -> Rows:
        """What the database says, read beside the system."""
        return self.store.rows(sql, *given)

    def start(self, name: str, command: list[str], **settings: str) -> None:
        """Its connections to the database have its name."""
        env = {**self.env, "PGAPPNAME": name, **settings}
        with self.log.open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, cwd=ROOT, env=env, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip

    def start_valkey(self) -> None:
        (self.run_dir / "valkey.sock").unlink(missing_ok=True)
        self.start("valkey", self._commands()["valkey"])
        eventually(self._valkey_answers, log=self.log)

    def start_front_end(self, name: str, port: int, **settings: str) -> None:
        command = self._commands()["web"]
        command[command.index("--port") + 1] = str(port)
        self.start(name, command, **settings)

    def start_worker(self) -> str:
        """A session worker that was never there before; where it is once it says so.

        Every second one opens updates in a child, which shares what becomes of its worker.
        """
        self._workers += 1
        name, openers = f"sessions@{self._workers}", str(self._workers % 2)
        words = [name if word == "sessions@%h" else word for word in self._commands()["sessions"]]
        self.start(name, words, MAYFLY_OPENERS=openers)
        return name

    def start_others(self) -> None:
        self.start_jobs()
        self.start_beat()

    def start_jobs(self, name: str = "jobs", **settings: str) -> None:
        """A worker of short jobs; several have names of their own."""
        node = "jobs@%h" if name == "jobs" else f"jobs@{name}"
        words = [node if word == "jobs@%h" else word for word in self._commands()["jobs"]]
        self.start(name, words, **settings)

    def start_beat(self) -> None:
        self.start("beat", self._commands()["beat"])

    @property
    def starts(self) -> dict[str, Callable[[], None]]:
        """How to start each part that there is one of, in this order."""
        return {
            "valkey": self.start_valkey,
            "web": lambda: self.start_front_end("web", self.port),
            "jobs": self.start_jobs,
            "beat": self.start_beat,
        }

    def send(self, job: str, *arguments: str, queue: str = "jobs", times: int = 1) -> None:
        """A message as beat sends it, so many times."""
        with self._broker() as app:
            for _ in range(times):
                app.send_task(job, args=arguments, queue=queue, ignore_result=True)

    def forget_jobs(self) -> None:
        """What was asked for, and not begun: some seconds later it expires anyway."""
        with self._broker() as app, app.connection_for_write() as connection:
            connection.default_channel.queue_purge("jobs")

    def is_idle(self) -> bool:
        """Nothing that was asked for waits or is being done. In the order in which a job passes
        through: the next look would see what the last one missed."""
        if self.queue.llen("jobs"):
            return False
        with self._broker() as app:
            ask = app.control.inspect(pattern="jobs@*", timeout=5, limit=1)
            return all(
                found and not any(found.values()) for found in (ask.reserved(), ask.active())
            )

    def _broker(self) -> Celery:
        address = self.env["MAYFLY_BROKER_URL"].replace("unix://", "redis+socket://")
        return Celery(broker=address, set_as_current=False)

    def heard_from(self, part: str) -> float:
        """When a part last said that it is alive, in machine time."""
        keys = self.queue.keys(f"mayfly:alive:{part}*")
        return max((float(raw) for raw in self.queue.mget(keys) if raw), default=0.0)

    @property
    def workers(self) -> set[str]:
        """Session workers whose process lives."""
        found = self.processes.items()
        return {name for name, one in found if "sessions@" in name and one.poll() is None}

    def signal(self, name: str, number: signal.Signals) -> None:
        os.killpg(self.processes[name].pid, number)
        if number == signal.SIGKILL:
            self.processes[name].wait(timeout=30)

    def mend(self) -> None:
        """After a fault that ended before its time: all parts are there, and move."""
        for name, process in list(self.processes.items()):
            if process.poll() is None:
                self.signal(name, signal.SIGCONT)
            elif name in self.starts:
                self.starts[name]()

    def freeze(self, name: str) -> None:
        """Stop a part where it is, but not while it writes: it would keep its locks, and a frozen
        one would freeze everybody."""
        eventually(lambda: self._is_frozen(name), log=self.log)

    def _is_frozen(self, name: str) -> bool:
        self.signal(name, signal.SIGSTOP)
        if self.store.is_writing(name):
            self.signal(name, signal.SIGCONT)
            return False
        return True

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """No process of the system can write a byte to a file: the kernel refuses it.

        A PostgreSQL has a disk of its own, which has room.
        """
        alive = [self.processes[name].pid for name in self.processes if name != "valkey"]
        try:
            self._let_write(alive, 0)
            yield
        finally:
            self._let_write(alive, resource.RLIM_INFINITY)

    def _let_write(self, pids: list[int], most: int) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, hard))

    def memory_mb(self) -> float:
        """Of the processes that live through all faults, and of what Valkey holds."""
        pids = [self.processes[name].pid for name in ("web", "jobs", "valkey")]
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
        return pages * PAGE / 1e6

    def stop(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                self.signal(name, signal.SIGKILL)
        self.store.stop()
        shutil.rmtree(self.run_dir, ignore_errors=True)

    def _valkey_answers(self) -> bool:
        try:
            return bool(self.queue.ping())
        except redis.RedisError:
            return False

    def _commands(self) -> dict[str, list[str]]:
        from django.test import override_settings

        from portal.supervisor.system import children

        socket = self.run_dir / "valkey.sock"
        with override_settings(RUN_DIR=self.run_dir, VALKEY_SOCKET=socket, PORT=self.port):
            return {child.name: list(child.command) for child in children()}


@contextmanager
def parts_of_a_system(data: Path, prepared: Path, store: Store, **settings: str) -> Iterator[Parts]:
    """Its folder and its Valkey; the caller starts the rest."""
    unused = shutil.ignore_patterns("static", "streams")
    shutil.copytree(prepared, data, ignore=unused, dirs_exist_ok=True)
    (data / "static").mkdir()
    # Only ever read.
    (data / "streams").symlink_to(prepared / "streams")
    run_dir = Path(tempfile.mkdtemp(prefix="mayfly-faults-"))
    address = f"unix://{run_dir / 'valkey.sock'}"
    env = {
        **clean_environment(),
        "MAYFLY_DATA": str(data),
        "MAYFLY_PORT": str(port := free_port()),
        "MAYFLY_BROKER_URL": address,
        "MAYFLY_QUEUE_URL": address,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **store.settings,
        **settings,
    }
    parts = Parts(data, port, env, run_dir, store)
    try:
        parts.start_valkey()
        yield parts
    finally:
        parts.stop()
