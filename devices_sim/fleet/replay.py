"""Replay: recorded events as if each device id were a phone, through the phones' real program.

A phone is given its events as the portal's civil clock comes to them, wakes up when the server's
hint says so, and is otherwise at rest. Which device a phone stands for is known to this process
alone: to the server it is a phone like any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from aggregation.protocol.windows import Unit, Window
from devices_sim.device.wake_up import WakeUp
from devices_sim.fleet.driver import Driver, Parts
from devices_sim.fleet.recording import Recording
from devices_sim.fleet.source import WEEK, Recorded

_DAY: Final = 86_400.0
# Machine seconds in which the server surely takes note, by a heartbeat, that windows ended: before
# that, no phone is taken to be done.
NOTICED_SECONDS = 15.0


def weeks_to_move(first: float, now: float) -> int:
    """By how many whole weeks events move, so that the first lies in a week that begins later.

    Phones run only windows that begin after their first start. Hours and weekdays stay.
    """
    monday = Window.containing(datetime.fromtimestamp(now, UTC), Unit.WEEK).end.timestamp()
    return max(0, -int((first - monday) // WEEK))


class Replay(Driver):
    """Ends when every phone has nothing more to send, or when the time to linger is over."""

    def __init__(
        self,
        recording: Recording,
        parts: Parts,
        *,
        stream: str,
        population: str,
        weeks_moved: int,
        # Civil days after the last event's week in which late windows may still be sent.
        linger_days: int,
        say: Callable[[str], None] = print,
    ) -> None:
        shift = weeks_moved * WEEK
        people = Recorded(
            recording, stream=stream, population=population, shift=shift, rng=parts.rng,
            started=parts.now(),
        )  # fmt: skip
        super().__init__(people, parts, say)
        self._recording, self._shift, self._linger_days = recording, shift, linger_days
        last = datetime.fromtimestamp(recording.last + shift, UTC)
        self._all_complete = Window.containing(last, Unit.WEEK).end.timestamp()
        # Machine time from which on a phone that finds nothing to do is done.
        self._noticed: float | None = None
        self._done: set[int] = set()

    def is_over(self) -> bool:
        if self.parts.now() > self._all_complete + self._linger_days * _DAY:
            return True
        return len(self._done) == self.source.phones

    def noticed(self, number: int, did: WakeUp, now: float) -> None:
        if did.sent:
            self._done.discard(number)
        elif self._has_nothing_to_send(did, now):
            self._done.add(number)

    def progress(self) -> str:
        report = self.report
        passed = self._recording.until(self.parts.now() - self._shift)
        return (
            f"{self.parts.clock.now():%Y-%m-%d %H:%M} UTC: "
            f"{passed:,} of {len(self._recording):,} "
            f"events, {report.sent:,} updates sent, {report.counted:,} windows counted, "
            f"{len(self._done):,} of {report.phones:,} phones done"
        )

    def _has_nothing_to_send(self, did: WakeUp, now: float) -> bool:
        if now < self._all_complete:
            return False
        if self._noticed is None:
            self._noticed = time.monotonic() + NOTICED_SECONDS
        is_idle = did.checked_in and not (did.sent or did.turned_away or did.on_their_way)
        return is_idle and time.monotonic() > self._noticed
