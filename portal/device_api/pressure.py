"""Back-pressure: a queue that has grown too long is left alone for a moment.

The length comes with each append for free. The update that found the queue too long is in it and
was accepted; those after it are sent off before they are read.
"""

import random
import time

from portal.device_api import pacing

# Machine seconds after which a long queue is tried again.
PAUSE_SECONDS = 0.5
# What a busy session takes from its queue in a second, at the least.
_TAKEN_PER_SECOND = 2000


class Pressure:
    def __init__(self, *, most: int, rng: random.Random) -> None:
        # Updates that may wait in one queue.
        self.most = most
        self._rng = rng
        # Queue → when it may be tried again, and how long it was.
        self._long: dict[str, tuple[float, int]] = {}

    def note(self, queue: str, length: int) -> None:
        """This queue has more than `most`."""
        now = time.monotonic()
        self._long = {one: found for one, found in self._long.items() if found[0] > now}
        self._long[queue] = (now + PAUSE_SECONDS, length)

    def retry_after(self, queue: str) -> int | None:
        """Seconds to send a device off for, or nothing if the queue takes more."""
        found = self._long.get(queue)
        if found is None or time.monotonic() >= found[0]:
            return None
        return pacing.retry_after(self._rng, over_seconds=found[1] / _TAKEN_PER_SECOND)
