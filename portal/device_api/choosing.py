"""Which session a device is assigned to."""

import random
from collections.abc import Sequence

from portal.device_api.snapshot import OpenSession

# Loads are seconds old: sessions within this much of the least loaded one count as equal, and
# devices are spread among them. Else all devices of a second would go to one session.
NEAR = 0.1


def choose_session(sessions: Sequence[OpenSession], rng: random.Random) -> OpenSession | None:
    """One of the least loaded; nothing if every session is full."""
    free = [session for session in sessions if session.load < 1]
    if not free:
        return None
    least = min(session.load for session in free)
    return rng.choice([session for session in free if session.load <= least + NEAR])
