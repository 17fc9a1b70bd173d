"""What became of sessions, in this process: kept once it can never change, asked for until then."""

import time
from collections import OrderedDict

from portal.collection.selectors import Outcome, outcome
from portal.device_api.records import Records

# A full session's receipts have 80 kB for each window.
MOST_BYTES = 64_000_000
MOST_KEPT = 10_000
# Machine seconds for which "not yet" is not asked again.
_NOT_YET_SECONDS = 1.0


class Fates:
    def __init__(self, records: Records) -> None:
        self._records = records
        self._over: OrderedDict[str, Outcome] = OrderedDict()
        self._bytes = 0
        # Session → until when it need not be asked about, and what is known until then.
        self._not_yet: dict[str, tuple[float, Outcome]] = {}

    async def of(self, session: str) -> Outcome | None:
        """From memory once it is over, else from the database; nothing if nobody knows it."""
        if (kept := self.kept(session)) is not None:
            return kept
        found = await self._records.ask(outcome, session)
        if found is not None and session not in self._over:
            self._keep(session, found)
        return found

    def kept(self, session: str) -> Outcome | None:
        """What is known without asking."""
        if (over := self._over.get(session)) is not None:
            return over
        until, known = self._not_yet.get(session, (0.0, None))
        return known if until > time.monotonic() else None

    def _keep(self, session: str, found: Outcome) -> None:
        now = time.monotonic()
        self._not_yet = {one: kept for one, kept in self._not_yet.items() if kept[0] > now}
        if not found.over:
            self._not_yet[session] = (now + _NOT_YET_SECONDS, found)
            return
        self._over[session] = found
        self._bytes += _size(found)
        while self._bytes > MOST_BYTES or len(self._over) > MOST_KEPT:
            _, oldest = self._over.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(found: Outcome) -> int:
    return sum(map(len, found.receipts.values()))
