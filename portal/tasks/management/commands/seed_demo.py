"""The demo's tasks: two running, one to review, one sent back, one draft. Once per system."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.tasks.demo import seed
from portal.tasks.models import EVERYONE, Population, Task


class Command(BaseCommand):
    help = "Make the demo's tasks as its analyst and reviewer; refuses outside the demo."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise Problem(
                "Demo tasks are approved with a password that everybody knows.",
                hint="This system is not a demo: write and review tasks in the portal.",
            )
        if Task.objects.exists() or Population.objects.exclude(name=EVERYONE).exists():
            return  # somebody is at work here already
        names = ["analyst", "reviewer", "operator"]
        people = {p.username: p for p in Person.objects.filter(username__in=names)}
        with transaction.atomic():
            seed(
                analyst=people["analyst"],
                reviewer=people["reviewer"],
                reviewer_password="reviewer",  # noqa: S106 - the demo's, printed at every start
                operator=people["operator"],
                clock=civil_clock(),
            )
