"""The last call: a session that ends by itself stays for devices that are on their way to it.

Until front ends know that it takes no more, they send devices to it; and a device needs a while
from its assignment to its upload. One that comes too late has done its work in vain, and some have
no second chance before the window's grace is over.

How long it lasts depends on settings alone, never on who comes: else one device could decide
whether those after it are counted.
"""

import time

from django.conf import settings

from portal.collection import placing
from portal.collection.models import Session
from portal.collection.run import Run

Reason = Session.Reason
# For these there is time; closed windows and workers that stop are waited for.
_UNHURRIED = (Reason.FULL, Reason.OLD, Reason.QUIET)
# As long as a device may be awake.
LONGEST = 60.0


def is_over(run: Run, reason: Reason) -> bool:
    """Whether it may end now, for this reason. Nobody who waits for its slot waits for this."""
    if reason not in _UNHURRIED or placing.findings().waiting:
        return True
    now = time.monotonic()
    if run.called_at is None:
        run.called_at = now
    return now - run.called_at >= seconds()


def seconds() -> float:
    """A heartbeat and a snapshot, until front ends know; and twice as long for devices."""
    return float(min(LONGEST, 3 * (settings.HEARTBEAT_SECONDS + settings.SNAPSHOT_SECONDS)))
