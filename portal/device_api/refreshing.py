"""Keeping the snapshot fresh, and saying so when it is not."""

import asyncio
import logging
import time

import msgspec
import redis

from portal.collection.live import SNAPSHOT
from portal.device_api.line import Line
from portal.device_api.outage import Away, Outage
from portal.device_api.snapshot import View, read_snapshot

logger = logging.getLogger(__name__)

# Machine seconds: an older snapshot offers sessions that may be over.
STALE_SECONDS = 10.0


class SnapshotKeeper:
    """The latest snapshot of this process; `run` is its one task."""

    def __init__(self, line: Line, *, every: float) -> None:
        self._line = line
        self._every = every
        self._raw = b""
        # The last one that was read, however old: good for what does not change with time.
        self.latest: View | None = None
        # When it was last seen in Valkey, in machine time.
        self._seen = time.monotonic()
        self._outage = Outage()

    def current(self) -> View:
        """The snapshot to answer from, fresh enough to offer what is in it."""
        view, age = self.latest, time.monotonic() - self._seen
        if view is None or age > STALE_SECONDS + 2 * self._every:
            raise Away("The list of open tasks", age)
        return view

    def names_session(self, session: str) -> bool:
        """Whether the session is open, as far as a fresh snapshot says."""
        try:
            return session in self.current().task_of_session
        except Away:
            return False

    async def run(self) -> None:
        while True:
            try:
                await self._refresh()
            except (redis.RedisError, OSError, msgspec.MsgspecError) as error:
                if not self._outage.goes_on():
                    logger.warning("Open tasks cannot be read (%s).", type(error).__name__)
            except Exception as error:
                # Everyone is answered from it: this task does not end.
                logger.error("Reading open tasks failed with %s.", type(error).__name__)
            else:
                if self._outage.is_over():
                    logger.warning("Open tasks can be read again.")
            await asyncio.sleep(self._every)

    async def _refresh(self) -> None:
        (raw,) = await self._line.ask([("GET", SNAPSHOT)])
        if not isinstance(raw, bytes):  # expired: nobody publishes it any more
            self.latest, self._raw = None, b""
            return
        if raw != self._raw:
            self.latest = read_snapshot(raw)
            self._raw = raw
        self._seen = time.monotonic()
