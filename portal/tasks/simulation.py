"""The tasks of a simulation: two starting points with a week of grace, so that reach is a week's.

The first asks phones that lie idle, the second those that are on Wi-Fi and charging, too: the two
conditions for which the paper tells how many phones it reached.
"""

from collections.abc import Sequence

from aggregation.clock import Clock
from portal.accounts.models import Person
from portal.tasks.demo import run
from portal.tasks.populations import add_population

_ALL_THREE = [
    ("aggregation: {", "schedule: {conditions: [idle, unmetered, charging]}\naggregation: {")
]
TASKS: dict[str, list[tuple[str, str]]] = {
    "weekly-trips": [("max_relative_noise: 0.05", "max_relative_noise: 0.1")],
    "country-modal-split": _ALL_THREE,
}


def seed(
    *,
    analyst: Person,
    reviewer: Person,
    reviewer_password: str,
    operator: Person,
    populations: Sequence[str],
    tasks: Sequence[str],
    clock: Clock,
) -> None:
    for name in populations:
        add_population(name=name, actor=operator, clock=clock)
    for slug in tasks:
        run(slug, TASKS[slug], analyst, reviewer, reviewer_password, clock)
