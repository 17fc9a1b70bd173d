"""Watch which updates of made-up phones are counted, and tell at the end of the input."""

import json
import select
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from aggregation.errors import Problem
from portal.clock import civil_clock
from portal.collection.exact import Watched, refusals
from portal.collection.fleet_counts import keep_counts
from portal.tasks.models import TaskWindow

# Machine seconds between looks: receipts stay for longer than that.
_LOOK_SECONDS = 0.1


class Command(BaseCommand):
    help = (
        "Watch which updates are counted until the input ends, then print their ids by window, "
        "and what was refused, as JSON. Only where civil time is simulated, as phones are then."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO or settings.CLOCK != "simulated":
            raise Problem(
                "Exact counts are for made-up phones alone.",
                hint="What people may see is on the page of the fleet.",
            )
        watched = Watched()
        while not select.select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
            watched.look()
        watched.look()
        keep_counts(clock=civil_clock())
        print(json.dumps({"counted": _by_name(watched), "refused": refusals()}))


def _by_name(watched: Watched) -> dict[str, dict[str, str]]:
    """Task → window → ids in hex, joined."""
    found: dict[str, dict[str, str]] = {}
    rows = TaskWindow.objects.select_related("task").in_bulk()
    for window, ids in watched.counted().items():
        row = rows[window]
        found.setdefault(row.task.name, {})[row.window] = b"".join(ids).hex()
    return found
