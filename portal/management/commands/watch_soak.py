"""Watch a soak from the inside: answers what it is asked, line by line. It changes nothing."""

import json
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from aggregation.errors import Problem
from portal.clock import civil_clock
from portal.management.soak_due import due
from portal.management.soak_facts import facts
from portal.management.soak_sizes import sizes


class Command(BaseCommand):
    help = (
        "For `simulate --scenario soak`: reads `due`, `sizes` or `facts` from each line of the "
        "input and prints the answer as JSON. Only where civil time is simulated."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO or settings.CLOCK != "simulated":
            raise Problem(
                "A soak is accounted for exactly, which is for made-up phones alone.",
                hint="What people may see is on the page of the fleet.",
            )
        clock = civil_clock()
        answers = {
            "due": lambda: due(clock.now()),
            "sizes": sizes,
            "facts": lambda: facts(clock.now()),
        }
        for line in sys.stdin:
            print(json.dumps(answers[line.strip()]()), flush=True)
