"""Prepare a data folder for a simulation: as `prepare` does, with other tasks than the demo's."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.collection.exact import keep_copies
from portal.management.commands.prepare import migrate
from portal.tasks.models import Task
from portal.tasks.simulation import TASKS, seed


class Command(BaseCommand):
    help = "Make the database, streams, people and tasks of a simulation; `simulate` calls it."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--populations", nargs="+", required=True)
        parser.add_argument("--tasks", nargs="*", choices=list(TASKS), default=list(TASKS))

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO or settings.CLOCK != "simulated":
            raise Problem(
                "A simulation has people whose passwords everybody knows, and its own time.",
                hint="Use the demo profile with MAYFLY_CLOCK=simulated.",
            )
        migrate()
        call_command("install_streams", verbosity=0)
        call_command("make_demo_people", verbosity=0)
        if not Task.objects.exists():
            _seed(options["populations"], options["tasks"])


def _seed(populations: list[str], tasks: list[str]) -> None:
    """All of it or nothing: a second call only looks whether there are tasks."""
    people = {person.username: person for person in Person.objects.all()}
    with transaction.atomic():
        seed(
            analyst=people["analyst"],
            reviewer=people["reviewer"],
            reviewer_password="reviewer",  # noqa: S106 - the demo's, printed at every start
            operator=people["operator"],
            populations=populations,
            tasks=tasks,
            clock=civil_clock(),
        )
        keep_copies()
