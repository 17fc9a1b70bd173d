"""The last call: a session that ends by itself stays for devices that are on their way to it.

Until front ends know that it takes no more, they send devices to it; and a device needs a while
from its assignment to its upload. One that comes too late has done its work in vain, and many have
no second chance before the window's grace is over. Nothing but how many arrive is looked at here,
and no device is told more than before: whether it was in time.
"""

import time

from portal.collection.models import Session
from portal.collection.run import Run, look_seconds

Reason = Session.Reason
# For these there is time; closed windows and workers that stop are waited for by somebody.
_UNHURRIED = (Reason.FULL, Reason.OLD, Reason.QUIET)
# As long as a device may be awake: who was sent here has arrived, or does not come.
LONGEST_SECONDS = 60.0
# Looks around during which nobody has come.
QUIET_LOOKS = 2


def is_over(run: Run, reason: Reason) -> bool:
    """Whether it may end, for this reason: nobody has come for a while, or it has waited enough."""
    if reason not in _UNHURRIED:
        return True
    now = time.monotonic()
    if run.called_at is None:
        run.called_at = now
    nobody_since = max(run.called_at, run.meters.took_at)
    quiet = now - nobody_since >= QUIET_LOOKS * look_seconds()
    return quiet or now - run.called_at >= LONGEST_SECONDS
