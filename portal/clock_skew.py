"""Whether this machine's clock is behind what others have noted: machine time, on all machines."""

import contextlib
from datetime import UTC, datetime, timedelta

import redis
from django.db.models import Max

from portal import heartbeats
from portal.audit.models import Entry

# Further apart than machines are whose clocks are kept by NTP.
_APART = timedelta(seconds=30)
# More entries than a machine writes before somebody looks. A moment that was ahead, and wrong, is
# forgotten after so many.
_LATEST = 100


def noted_ahead(now: datetime) -> datetime | None:
    """The latest moment that was written, or that a living part is at, and that has not come here
    yet; nothing if all have. Whose clock is wrong, nobody can tell from it."""
    newest = Entry.objects.order_by("-seq")[:_LATEST].aggregate(latest=Max("at"))["latest"]
    noted = [newest] if newest else []
    with contextlib.suppress(redis.RedisError, OSError):
        noted += [datetime.fromtimestamp(at, UTC) for at in heartbeats.latest_beats().values()]
    latest = max(noted, default=now)
    return latest if latest - now > _APART else None
