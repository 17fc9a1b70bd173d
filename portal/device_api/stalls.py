"""Bodies that do not arrive: a device that stops sending does not hold its place for long.

One task looks over all bodies under way now and then. A timer for each would cost a third of what
the rest of an upload does.
"""

import asyncio
from typing import Any

# Looks at each body within its allowed seconds; one that is still arriving then is ended.
_LOOKS = 4
STALLED = -1


class Stalls:
    """Gives bodies `seconds` of machine time to arrive, or a little more; `run` is its one task."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # Task that reads → the look at which it began, or STALLED. Whoever reads writes itself in
        # and takes itself out again: a call for each would cost more than the rest.
        self.reading: dict[asyncio.Task[Any], int] = {}
        self.looks = 0
        # Whoever has to ask which loop runs asks the operating system each time.
        self.loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        self.loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.seconds / _LOOKS)
            self.looks += 1
            for task, since in self.reading.items():
                if 0 <= since < self.looks - _LOOKS:
                    # Marked, so that this end is told from any other.
                    self.reading[task] = STALLED
                    task.cancel()
