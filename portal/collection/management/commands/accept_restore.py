"""After a database was put back from a backup: make it safe to go on with, and go on."""

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aggregation.errors import Problem
from portal.clock import civil_clock
from portal.collection.restoring import accept_restore


class Command(BaseCommand):
    help = "Go on with a database from a backup: what may have been spent since counts as spent."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--since", type=moment, help="when the backup was made, such as 2026-11-18T03:00Z"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        done = accept_restore(clock=civil_clock(), since=options["since"])
        self.stdout.write(
            f"This database knows nothing since {done.forgotten_since:%Y-%m-%d %H:%M} UTC. "
            f"Windows skipped: {done.windows}; weeks of which nothing is left: {done.weeks}; "
            f"partials erased: {done.partials}; tasks paused: {done.tasks}; "
            f"tokens revoked: {done.tokens}.\n"
            "Everybody is signed out. Look through people first, on /people: who was deactivated "
            "since, lost a role or got another password has it back as it was. "
            "A task goes on once somebody asks to resume it and a second person approves."
        )


def moment(text: str) -> datetime:
    """A moment with its time zone: nobody can tell which one is meant otherwise."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Problem(
            f"--since is {text!r}, which is no moment with a time zone.",
            hint="Write it in UTC, such as 2026-11-18T03:00Z.",
        )
    return found.astimezone(UTC)
