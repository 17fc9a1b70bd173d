"""Bodies that do not arrive: a device that stops sending does not hold its place for long.

One task looks over all bodies under way now and then. A timer for each would cost a third of what
the rest of an upload does.
"""

import asyncio
from typing import Any

# How often all are looked over, in their time.
_LOOKS = 4


class Stalls:
    """Gives bodies `seconds` of machine time to arrive, or a little more; `run` is its one task."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # Task that reads → the look at which it began.
        self._reading: dict[asyncio.Task[Any], int] = {}
        self._looks = 0

    def begin(self) -> asyncio.Task[Any]:
        """The current task reads a body from now on; `end` has to follow."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine asks
        self._reading[task] = self._looks
        return task

    def end(self, task: asyncio.Task[Any]) -> bool:
        """Whether the task was cancelled here, for having stalled."""
        if self._reading.pop(task) >= 0:
            return False
        task.uncancel()
        return True

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.seconds / _LOOKS)
            self._looks += 1
            for task, since in self._reading.items():
                if 0 <= since < self._looks - _LOOKS:
                    # Marked, so that this end is told from any other.
                    self._reading[task] = -1
                    task.cancel()
