"""The demo's four people, one for each role. Harmless twice; refused outside the demo."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from aggregation.errors import Problem
from portal.accounts.models import Person, Role
from portal.accounts.services import change_roles
from portal.audit.services import record
from portal.clock import civil_clock

_NAMES = {
    Role.ANALYST: "Ada Lindqvist",
    Role.REVIEWER: "Rafael Okoye",
    Role.CONSUMER: "Chiara Moretti",
    Role.OPERATOR: "Omar Haddad",
}


class Command(BaseCommand):
    help = "Make the demo's people: analyst, reviewer, consumer, operator; password = name."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise Problem(
                "Demo people have passwords that everybody knows: this system is not a demo.",
                hint="Add people with manage.py add_person.",
            )
        known = set(Person.objects.values_list("username", flat=True))
        for role in Role:
            if role.value not in known:
                _make(role)


@transaction.atomic
def _make(role: Role) -> None:
    """The one place that goes around the rules for passwords."""
    person = Person.objects.create_user(
        role.value, f"{role.value}@example.org", role.value, full_name=_NAMES[role]
    )
    record(action="person.added", subject=person, clock=civil_clock())
    change_roles(person=person, roles={role}, actor=None, clock=civil_clock())
