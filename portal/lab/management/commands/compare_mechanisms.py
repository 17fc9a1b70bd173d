"""The paper's comparison of mechanisms, on made-up populations."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.lab.comparing.comparison import compare
from portal.lab.comparing.parameters import PEOPLE
from portal.lab.comparing.telling import lines
from portal.lab.pieces import cores


class Command(BaseCommand):
    help = (
        "Fit mechanisms on one made-up geography and test them on three others: weighted relative "
        "errors by metric, as in the paper. About two minutes for a million devices and one ε."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--devices", type=int, default=1_000_000, help="to fit on (default 1000000)")
        add("--epsilon", type=float, nargs="+", default=[2.0], help="one or more (default 2)")
        add("--seed", type=int, nargs="+", default=[1], help="one or more populations (default 1)")
        add("--people", choices=PEOPLE, default=PEOPLE[0], help="whose travel (default travellers)")
        add("--processes", type=int, default=cores(), help="that fit and test")
        add("--json", action="store_true", help="the errors as JSON; a list for several ε")

    def handle(self, *args: Any, **options: Any) -> None:
        result = compare(
            {
                "devices": options["devices"],
                "epsilons": options["epsilon"],
                "seeds": options["seed"],
                "people": options["people"],
            },
            progress=_told if sys.stderr.isatty() else lambda share: None,
            processes=options["processes"],
        )
        if options["json"]:
            found = result["results"]
            print(json.dumps(found[0] if len(found) == 1 else found, indent=2))
        else:
            print("\n".join(lines(result)), end="")


def _told(share: float) -> None:
    sys.stderr.write(f"\r{share:4.0%} ")
    sys.stderr.flush()
