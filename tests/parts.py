"""Real parts as fixtures: a Valkey for this process, and a whole running system for browsers."""

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")


def eventually(condition: Callable[[], T], *, within: float = 60, log: Path | None = None) -> T:
    """Wait until the condition holds and give what it gave; fail with its last answer."""
    deadline = time.monotonic() + within
    last: Any = None
    while time.monotonic() < deadline:
        try:
            last = condition()
            if last:
                return last
        except (OSError, AssertionError) as error:
            last = error
        time.sleep(0.05)
    tail = f"\n{_tail(log)}" if log else ""
    raise AssertionError(f"This did not happen within {within:g} s; last: {last!r}{tail}")


@dataclass
class Site:
    """A whole running Mayfly, whoever started it."""

    data: Path
    port: int
    env: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.data / "up.log"

    def manage(self, *arguments: str, given: str = "") -> str:
        """Run a command of manage.py on this system's data and give what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments], input=given,
            cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, code: str, given: str = "") -> str:
        return self.manage("shell", "--no-imports", "-c", code, given=given).strip()


@dataclass
class System(Site):
    """A whole Mayfly (`manage.py up`) with its own data folder and port, ours to stop."""

    process: subprocess.Popen[bytes]

    def is_ready(self) -> bool:
        assert self.process.poll() is None, _tail(self.log)
        request = urllib.request.Request(
            f"{self.url}/health", headers={"Accept": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(timeout=15)


def start_system(data: Path, *, prepared: Path | None = None, **settings: str) -> System:
    """Start `manage.py up`; the caller waits for `is_ready` and stops it.

    With a prepared folder, its database, streams and static files are copied instead of built.
    """
    if prepared:
        shutil.copytree(prepared, data, dirs_exist_ok=True)
    port = int(settings.pop("MAYFLY_PORT", free_port()))
    env = {
        **clean_environment(),
        "MAYFLY_DATA": str(data),
        "MAYFLY_PORT": str(port),
        "MAYFLY_HEARTBEAT_SECONDS": "0.5",
        **settings,
    }
    log = (data / "up.log").open("ab")
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up"], cwd=ROOT, env=env, stdout=log, stderr=log
    )
    log.close()
    return System(data, port, env, process)


@pytest.fixture(scope="session")
def valkey() -> Iterator[None]:
    """A real Valkey where this process's settings expect the embedded one."""
    from django.conf import settings

    from portal.supervisor import valkey as embedded
    from portal.valkey import queue_client

    embedded.prepare_run_dir(settings.RUN_DIR)
    embedded.clear_socket(settings.VALKEY_SOCKET)
    process = subprocess.Popen(embedded.command(), stdout=subprocess.DEVNULL)
    eventually(lambda: settings.VALKEY_SOCKET.exists() and queue_client().ping())
    yield
    process.terminate()
    process.wait(timeout=10)
    shutil.rmtree(settings.RUN_DIR, ignore_errors=True)


@pytest.fixture(scope="session")
def prepared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with everything that `manage.py prepare` makes, to copy from.

    `tests/run.py` names one place for all its calls; whoever comes first prepares it.
    """
    place = os.environ.get("TEST_PREPARED_DATA")
    folder = Path(place) if place else tmp_path_factory.mktemp("prepared") / "data"
    with locked(folder.with_suffix(".lock")):
        if not folder.exists():
            _prepare(folder)
    return folder


def _prepare(folder: Path) -> None:
    unfinished = folder.with_suffix(".unfinished")
    unfinished.mkdir()
    command = [sys.executable, "manage.py", "prepare"]
    env = {**clean_environment(), "MAYFLY_DATA": str(unfinished)}
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, timeout=300)
    unfinished.rename(folder)


@pytest.fixture(scope="session")
def site(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[Site]:
    """One running system for the browser tests of all workers; use fresh names in each."""
    alone = worker_id == "master"
    base = tmp_path_factory.getbasetemp()
    with shared_site(base if alone else base.parent, prepared_data) as found:
        yield found


@contextmanager
def shared_site(place: Path, prepared: Path) -> Iterator[Site]:
    """The first to come starts it, and stops it when the others have left.

    Each user holds a shared lock as long as it looks: should one die, its lock dies with it.
    """
    card, door = place / "site.json", place / "site.door"
    users = (place / "site.users").open("a")
    system = None
    with locked(door):
        if not card.exists():
            system = _started(prepared)
            card.write_text(json.dumps([str(system.data), system.port, system.env]))
        data, port, env = json.loads(card.read_text())
        fcntl.flock(users, fcntl.LOCK_SH)
    try:
        yield Site(Path(data), port, env)
    finally:
        if system is None:
            users.close()
        else:
            with locked(door):
                fcntl.flock(users, fcntl.LOCK_EX)
                card.unlink()
            system.stop()
            shutil.rmtree(system.data, ignore_errors=True)


def _started(prepared: Path) -> System:
    # Nothing in a browser waits for heartbeats; at two a second they take a third of a core.
    system = start_system(
        Path(tempfile.mkdtemp(prefix="mayfly-site-")),
        prepared=prepared,
        MAYFLY_HEARTBEAT_SECONDS="2",
    )
    try:
        eventually(system.is_ready, within=90, log=system.log)
    except AssertionError:
        system.stop()
        raise
    return system


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def clean_environment() -> dict[str, str]:
    """This process's variables without what is set for tests only, and no made-up phones."""
    ours = ("MAYFLY_", "DJANGO_", "TEST_DATABASE_URL")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return {**kept, "MAYFLY_SCENARIO": "none"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _tail(log: Path, lines: int = 40) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else ""
