"""Whether this machine's clock is behind what others have noted: machine time, on all machines."""

import contextlib
from datetime import UTC, datetime, timedelta

import redis
from django.db.models import Max

from portal import heartbeats
from portal.audit.models import Entry

# Further apart than machines are whose clocks are kept by NTP.
_APART = timedelta(seconds=30)
# More entries than one machine writes before somebody looks; fewer than would keep a moment that
# was far ahead, and wrong, for ever.
_LATEST = 1000


def noted_ahead(now: datetime) -> datetime | None:
    """The latest moment that somebody noted and that has not come here yet; nothing if all have."""
    newest = Entry.objects.order_by("-seq")[:_LATEST].aggregate(latest=Max("at"))["latest"]
    noted = [newest] if newest else []
    with contextlib.suppress(redis.RedisError, OSError):
        noted += [datetime.fromtimestamp(at, UTC) for at in heartbeats.last_seen().values()]
    latest = max(noted, default=now)
    return latest if latest - now > _APART else None
