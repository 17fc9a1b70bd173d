"""Whom the platform reaches: the paper's two tables, from simulated phones."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from portal.lab.reaching.study import lines, study_reach


class Command(BaseCommand):
    help = (
        "Study reach with simulated phones: the paper's table of constraints, and its ladder of "
        "versions from 0.1 to 1.0, with the per-user mean error. The page /docs/evaluation says "
        "what is modelled, assumed and fitted."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--devices", type=int, default=200_000, help="so many phones (default 200000)")
        add("--seed", type=int, default=1, help="another one is another fleet of the same kind")
        add("--json", action="store_true", help="the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        result = study_reach({"phones": options["devices"], "seed": options["seed"]})
        print(json.dumps(result, indent=2) if options["json"] else "\n".join(lines(result)))
