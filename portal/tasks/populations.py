"""Populations: made by operators, named by tasks, and never removed."""

import re

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.accounts.models import Person, Role
from portal.audit.services import record
from portal.problems import Conflict
from portal.tasks.models import Population
from portal.tasks.rights import require_role

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")


def populations() -> QuerySet[Population]:
    return Population.objects.select_related("created_by")


@transaction.atomic
def add_population(*, name: str, actor: Person, clock: Clock) -> Population:
    """A set of devices that tasks may name from now on. It stays for good."""
    require_role(actor, Role.OPERATOR)
    if not _NAME.fullmatch(name):
        raise Problem(
            f"{name[:80]!r} is no name for a population.",
            hint="It has letters, digits, - and _, up to 64, and begins and ends with neither.",
        )
    try:
        with transaction.atomic():
            made = Population.objects.create(name=name, created_by=actor, created_at=clock.now())
    except IntegrityError:
        message = f"There is a population {name} already."
        raise Conflict(message, hint="Choose another name.") from None
    record(action="population.created", subject=made, actor=actor, clock=clock)
    return made


def known_populations() -> frozenset[str]:
    """The names that a spec may give: the compiler refuses others."""
    return frozenset(Population.objects.values_list("name", flat=True))
