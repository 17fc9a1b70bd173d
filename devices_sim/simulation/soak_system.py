"""The real system of a soak: what `System` is, and somebody who watches it from the inside."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from aggregation.errors import Problem
from devices_sim.simulation.plan import Plan
from devices_sim.simulation.system import System, are_offered, children, name_of

# Machine seconds for the server to do what has become due: releases among it.
_SETTLE_SECONDS: Final = 900.0
_LOOK_SECONDS: Final = 0.1


class SoakSystem(System):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        # Several tasks at a time, old and new revisions of each beside each other.
        self._env["MAYFLY_SESSION_SLOTS"] = "16"
        self._watch: subprocess.Popen[str] | None = None
        self._offered: set[tuple[str, str]] = set()
        self._sessions: set[str] = set()

    def await_ready(self) -> None:
        super().await_ready()
        pipe = subprocess.PIPE
        self._watch = self._started("watch_soak", stdin=pipe, stdout=pipe, text=True)

    def __exit__(self, *_: object) -> None:
        if self._watch is not None and self._watch.poll() is None:
            self._watch.terminate()
            self._watch.wait()
        super().__exit__()

    def ask(self, question: str) -> dict[str, Any]:
        """What the command `watch_soak` answers."""
        assert self._watch is not None  # noqa: S101 - it runs since the system is ready
        assert self._watch.stdin is not None  # noqa: S101 - pipes
        assert self._watch.stdout is not None  # noqa: S101
        self._watch.stdin.write(f"{question}\n")
        self._watch.stdin.flush()
        answer = self._watch.stdout.readline()
        if not answer:
            raise Problem("Nobody watches the soak any more.", hint=f"See {self._log}.")
        found: dict[str, Any] = json.loads(answer)
        return found

    def settle(self, *, with_files: bool = False) -> float:
        """Wait until all that is due by the clock is done. Tells when something is due next.

        Files of releases are made meanwhile: only who looks at them waits for them.
        """
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            found = self.ask("due")
            waiting = found["waiting"] + (found["unmade"] if with_files else [])
            if not waiting:
                break
            self.check()
            if time.monotonic() > deadline:
                raise Problem(
                    f"The system did not get done in time: {waiting[:5]}.",
                    hint=f"See {self._log}.",
                )
            time.sleep(_LOOK_SECONDS)
        if not self._sessions <= (sessions := set(found["sessions"])):
            self._offered = set()  # front ends may still send phones to one that has ended
        self._sessions = sessions
        self._await_offers({(task, window) for task, window in found["open"]})
        return float(found["next"])

    def operate(self, *arguments: str) -> None:
        """What an operator does at a terminal."""
        self._manage(*arguments)

    def memory(self) -> dict[str, int]:
        """Kilobytes by process, now."""
        assert self._up is not None  # noqa: S101 - it is running
        found: dict[str, int] = defaultdict(int)
        for pid in (self._up.pid, *children(self._up.pid)):
            name = "supervisor" if pid == self._up.pid else name_of(pid)
            found[name] += _resident(pid)
        return dict(found)

    def _await_offers(self, windows: set[tuple[str, str]]) -> None:
        """Phones that come now are told of all windows that can be sent, and by whom."""
        for task, window in sorted(windows - self._offered):
            self._until(
                lambda task=task, window=window: asyncio.run(  # type: ignore[misc]
                    are_offered(self._plan.url, [task], window, "all", self.ask("due")["sessions"])
                ),
                _SETTLE_SECONDS,
                f"offer {window} of {task}",
            )
        self._offered = windows


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])
    return 0
