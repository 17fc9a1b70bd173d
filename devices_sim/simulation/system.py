"""The real system of a simulation: its own data folder, its own processes, its own civil time.

Nothing of it knows that it is simulated but its clock. It is started as `make run` starts it,
without phones, and stopped as Ctrl-C stops it.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aggregation.clock import SimulatedClock
from aggregation.errors import Problem
from aggregation.protocol.messages import VERSION, Assigned, AssignmentRequest, CheckIn, Wanted
from aggregation.protocol.windows import Window
from devices_sim.device.api_client import Meter, NotReached, connected
from devices_sim.device.http import Http, NoReply
from devices_sim.simulation.plan import Plan

_MANAGE: Final = Path(__file__).resolve().parent.parent.parent / "manage.py"
# Machine seconds: for the system to be up, to notice a window's end, and to release one.
_START_SECONDS, _NOTICE_SECONDS, _RELEASE_SECONDS, _STOP_SECONDS = 120.0, 60.0, 600.0, 20.0
_SETTINGS: Final = {"MAYFLY_SCENARIO": "none", "MAYFLY_CLOCK": "simulated"}
# Phones with which a week takes seconds, so that due work is looked for more often than usual.
_FEW: Final = 50_000


@dataclass(frozen=True)
class Cost:
    """What a process has taken of the machine."""

    peak_kilobytes: int
    processor_seconds: float


class System(AbstractContextManager["System"]):
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.clock = SimulatedClock(plan.data / "clock.json")
        self._log = plan.data / "up.log"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAYFLY_", "DJANGO_"))}
        self._env = {
            **kept,
            **_SETTINGS,
            "MAYFLY_HEARTBEAT_SECONDS": "1" if plan.scenario.phones <= _FEW else "2",
            "MAYFLY_DATA": str(plan.data),
            "MAYFLY_PORT": str(plan.port),
        }
        self._up: subprocess.Popen[bytes] | None = None

    def prepare(self, populations: Sequence[str]) -> None:
        self.clock.start(self._plan.start, speed=0)
        self._manage(
            "prepare_simulation", "--populations", *populations, "--tasks", *self._plan.tasks
        )

    def __enter__(self) -> System:
        with self._log.open("ab") as log:
            self._up = self._started("up", stdout=log, stderr=log)
        return self

    def await_ready(self) -> None:
        self._until(lambda: asyncio.run(_is_healthy(self._plan.url)), _START_SECONDS, "start")

    def __exit__(self, *_: object) -> None:
        if self._up is not None and self._up.poll() is None:
            self._up.terminate()
            try:
                self._up.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._up.kill()
                self._up.wait()

    def await_offers(self, window: Window) -> None:
        """Until phones are offered the window, and sessions take their updates."""
        population = "all"
        self._until(
            lambda: asyncio.run(
                are_offered(self._plan.url, self._plan.tasks, window.id, population)
            ),
            _NOTICE_SECONDS,
            f"offer {window.id}",
        )

    def await_closing(self, window: Window) -> None:
        """Until no phone is offered the window any more: its release may begin."""
        self._until(
            lambda: asyncio.run(is_closed(self._plan.url, self._plan.tasks, window.id)),
            _NOTICE_SECONDS,
            f"close {window.id}",
        )

    def await_release(self, window: Window) -> None:
        """Until the files of all tasks' releases are there."""
        folders = [self.release_folder(task, window) for task in self._plan.tasks]
        self._until(
            lambda: all((folder / "manifest.json").exists() for folder in folders),
            _RELEASE_SECONDS,
            f"release {window.id}",
        )

    def release_folder(self, task: str, window: Window) -> Path:
        return self._plan.data / "releases" / task / window.id

    def exact_counts(self) -> dict[str, Any]:
        """Which updates are counted, and what was refused: see the command of this name."""
        found: dict[str, Any] = json.loads(self._manage("exact_counts"))
        return found

    def costs(self) -> dict[str, Cost]:
        """By process, so far; empty where the machine does not tell."""
        assert self._up is not None  # noqa: S101 - it is running
        found = {"supervisor": _cost(self._up.pid)}
        for pid in children(self._up.pid):
            found[name_of(pid)] = _cost(pid)
        return {name: cost for name, cost in found.items() if cost}

    def check(self) -> None:
        if self._up is None or self._up.poll() is not None:
            raise Problem("The system has ended by itself.", hint=f"See {self._log}.")

    def _until(self, holds: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            self.check()
            if time.monotonic() > deadline:
                raise Problem(
                    f"The system did not {what} within {seconds:g} seconds.",
                    hint=f"See {self._log}.",
                )
            time.sleep(0.1)

    def _manage(self, *arguments: str) -> str:
        """What the command printed."""
        pipe = subprocess.PIPE
        process = self._started(*arguments, stdout=pipe, stderr=pipe, text=True)
        try:
            told, said = process.communicate()
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.returncode:
            raise Problem(f"`manage.py {arguments[0]}` failed: {said.strip()[-500:]}")
        return str(told)

    def _started(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        return subprocess.Popen(  # noqa: S603 - our own commands
            [sys.executable, str(_MANAGE), *arguments],
            cwd=_MANAGE.parent,
            env=self._env,
            # Ctrl-C reaches this process alone, which then stops the others in order.
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - there are no threads yet
            **options,
        )


async def _is_healthy(url: str) -> bool:
    with contextlib.suppress(NoReply):
        async with Http(url) as http:
            reply = await http.ask("GET", "/health", headers="\r\nAccept: application/json")
            return reply.status == 200
    return False


async def are_offered(
    url: str,
    tasks: Sequence[str],
    window: str,
    population: str,
    sessions: Collection[str] | None = None,
) -> bool:
    """Whether a phone that comes now can send this window of all these tasks, to one of these
    sessions if they are given."""
    with contextlib.suppress(NotReached):
        async with connected(url) as api:
            offers = await api.check_in(CheckIn(version=VERSION, population=population), Meter())
            found = [o for o in offers.tasks if o.task in tasks and window in o.windows]
            if len(found) < len(tasks):
                return False
            wanted = tuple(Wanted(task=o.task, client_task=o.client_task) for o in found)
            request = AssignmentRequest(version=VERSION, population=population, tasks=wanted)
            given = (await api.assignments(request, Meter())).assignments
            return all(
                isinstance(each, Assigned)
                and window in each.windows
                and (sessions is None or each.session in sessions)
                for each in given
            )
    return False


async def is_closed(url: str, tasks: Sequence[str], window: str) -> bool:
    with contextlib.suppress(NotReached):
        async with connected(url) as api:
            offers = await api.check_in(CheckIn(version=VERSION, population="all"), Meter())
            return not any(o.task in tasks and window in o.windows for o in offers.tasks)
    return False


def _die_with_parent() -> None:
    """On Linux, also when this process is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (OSError, ValueError):
        return []


def name_of(pid: int) -> str:
    """As the supervisor's log calls it."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        marks = {"uvicorn": "web", "sessions@%h": "sessions", "jobs@%h": "jobs", "beat": "beat"}
        return next((name for mark, name in marks.items() if mark in words), "valkey")
    return "unknown"


def _cost(pid: int) -> Cost | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        # After the name, which may hold anything: user and system time, in ticks.
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return Cost(
            peak_kilobytes=int(status.partition("VmHWM:")[2].split()[0]),
            processor_seconds=sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"),
        )
    return None
