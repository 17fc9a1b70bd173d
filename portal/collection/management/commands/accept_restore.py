"""After a database was put back from a backup: make it safe to go on with, and go on."""

from typing import Any

from django.core.management.base import BaseCommand

from portal.clock import civil_clock
from portal.collection.restoring import accept_restore


class Command(BaseCommand):
    help = "Go on with a database from a backup: what may have been spent since counts as spent."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        done = accept_restore(clock=civil_clock())
        self.stdout.write(
            f"This database knows nothing since {done.forgotten_since:%Y-%m-%d %H:%M} UTC. "
            f"Windows skipped: {done.windows}; weeks of which nothing is left: {done.weeks}; "
            f"partials erased: {done.partials}."
        )
