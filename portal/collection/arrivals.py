"""What the controller remembers from one look to the next: in Valkey, for a while, in machine time.

Should Valkey forget it, a revision begins with one session again, and grows again.
"""

import math
import time

from django.conf import settings

from portal.valkey import queue_client

# Arrivals fade within this time once nobody reports them.
FADES_SECONDS = 20.0
# So long there have to be too many sessions before one is asked to end.
CALM_SECONDS = 60.0
_KEPT_MS = 300_000


def remembered(revision: int, rate: float, *, now: float | None = None) -> float:
    """Updates a second: what is reported now, or what is left of what was reported before."""
    client, name = queue_client(), f"mayfly:revision:{revision}:arriving"
    moment = time.time() if now is None else now
    found = max(rate, _faded(client.get(name), moment))
    client.set(name, f"{found} {moment}", px=_KEPT_MS)
    return found


def calm_seconds(revision: int, session: str, *, now: float | None = None) -> float:
    """For how long this session has been one too many; asked at every look while it is."""
    client, name = queue_client(), f"mayfly:revision:{revision}:calm:{session}"
    moment = time.time() if now is None else now
    client.set(name, repr(moment), nx=True)
    client.pexpire(name, int(1000 * max(5.0, 4 * settings.HEARTBEAT_SECONDS)))
    return max(0.0, moment - float(client.get(name) or moment))


def _faded(raw: bytes | str | None, now: float) -> float:
    if raw is None:
        return 0.0
    rate, at = map(float, raw.split())
    return rate * math.exp(-max(0.0, now - at) / FADES_SECONDS)
