"""The live status of sessions, read from the queues' Valkey. Its counts are exact, so it is for the
controller; pages show them through `coarse`.

A session says it once a second; how long ago that was is read from the time that its word still
has to live, so that no two machines' clocks are compared. A session that is alive and has not
spoken for a few seconds is stuck: devices are not sent to it, and it gets company.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from django.conf import settings

from portal.collection import live
from portal.valkey import queue_client


class Status(msgspec.Struct, frozen=True):
    """As a session writes it."""

    contributions: int
    queue: int
    counts: dict[str, int]
    # Share of the devices that it takes before it is full.
    load: float
    # So many devices that is.
    most: int = 0
    # Updates a second of late, and the share of its time that it worked.
    arriving: float = 0.0
    accepting: float = 0.0
    busy: float = 0.0


@dataclass(frozen=True)
class Said:
    status: Status
    # Waiting in its queue now.
    queued: int
    # Since it spoke.
    age_seconds: float

    @property
    def is_stuck(self) -> bool:
        return self.age_seconds > stuck_seconds()

    @property
    def load(self) -> float:
        """What it has and what waits for it, as a share of what it takes."""
        status = self.status
        waiting = self.queued / status.most if status.most else 0.0
        return min(1.0, max(status.load + waiting, self.queued / settings.QUEUE_LENGTH))


def said(sessions: Sequence[str]) -> dict[str, Said]:
    """Each of these sessions that has said anything of late. Raises what Valkey raises."""
    pipe = queue_client().pipeline(transaction=False)
    for one in sessions:
        pipe.get(live.key(one, "status"))
        pipe.pttl(live.key(one, "status"))
        pipe.llen(live.key(one, "updates"))
    found = pipe.execute() if sessions else []
    answers = zip(sessions, found[0::3], found[1::3], found[2::3], strict=True)
    return {one: _said(raw, left, length) for one, raw, left, length in answers if raw}


def stuck_seconds() -> float:
    return float(min(settings.SESSION_LAPSE_SECONDS / 2, max(3.0, 3 * settings.HEARTBEAT_SECONDS)))


def _said(raw: bytes, left_ms: int, length: int) -> Said:
    age = settings.SESSION_LAPSE_SECONDS - max(0, left_ms) / 1000
    status = msgspec.json.decode(raw, type=Status)
    return Said(status, max(0, length - 1), max(0.0, age))
