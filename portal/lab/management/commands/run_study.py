"""One study to its end. Workers start this; people ask for studies on the page /lab."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.clock import civil_clock
from portal.lab import child, working
from portal.lab.models import Study


class Command(BaseCommand):
    help = "Run a study that a worker has begun. It ends with the worker, or when it is cancelled."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", type=int, help="its number")

    def handle(self, *args: Any, **options: Any) -> None:
        found = Study.objects.filter(pk=options["study"], state=Study.State.RUNNING).first()
        if found is None:
            print(f"Study {options['study']} is not running: ask for it on the page /lab.")
            return
        child.live_with_parent(found.pk)
        working.work(study=found, clock=civil_clock())
