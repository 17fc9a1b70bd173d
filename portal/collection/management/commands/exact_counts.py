"""Tell which updates of made-up phones are counted."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from aggregation.errors import Problem
from portal.clock import civil_clock
from portal.collection.exact import Seen, refusals
from portal.collection.fleet_counts import keep_counts
from portal.tasks.models import TaskWindow


class Command(BaseCommand):
    help = (
        "Print the ids of updates that are counted, by window, and what was refused, as JSON. "
        "Only in a simulation, whose phones are made up."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO or settings.CLOCK != "simulated":
            raise Problem(
                "Exact counts are for made-up phones alone.",
                hint="What people may see is on the page of the fleet.",
            )
        keep_counts(clock=civil_clock())
        print(json.dumps({"counted": _by_name(Seen.so_far()), "refused": refusals()}))


def _by_name(seen: Seen) -> dict[str, dict[str, str]]:
    """Task → window → ids in hex, joined."""
    found: dict[str, dict[str, str]] = {}
    rows = TaskWindow.objects.select_related("task").in_bulk()
    for window, ids in seen.counted().items():
        row = rows[window]
        found.setdefault(row.task.name, {})[row.window] = b"".join(ids).hex()
    return found
