"""What a fleet of some size needs: machines, bandwidth, storage and money, on paper."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aggregation.errors import Problem
from portal.pages.scaling import SIZES, Assumptions, Plan, plan
from portal.pages.scaling_table import needs


class Command(BaseCommand):
    help = "What a fleet of some size needs, from measured costs; see /docs/scaling."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--devices", type=int, help="how many a week; three sizes if absent")
        parser.add_argument(
            "--tasks", type=int, default=Assumptions.tasks, help="weekly tasks of each device"
        )
        parser.add_argument(
            "--core-month", type=float, default=Assumptions.core_month, help="dollars for a core"
        )
        parser.add_argument("--json", action="store_true", help="exact numbers as JSON")

    def handle(
        self, *args: Any, devices: int | None, tasks: int, core_month: float, **options: Any
    ) -> None:
        if (devices is not None and devices < 1) or tasks < 1 or core_month < 0:
            raise Problem("Devices and tasks are 1 or more, and prices 0 or more.")
        assumed = Assumptions(tasks=tasks, core_month=core_month)
        sizes = [devices] if devices else list(SIZES)
        plans = [plan(size, assumed=assumed) for size in sizes]
        print(_as_json(plans) if options["json"] else _as_table(plans))


def _as_json(plans: list[Plan]) -> str:
    """Each plan with everything it was computed from."""
    names = sorted(name for name, value in vars(Plan).items() if isinstance(value, property))
    told = [
        {"devices": one.devices, **{name: getattr(one, name) for name in names}} for one in plans
    ]
    given = {"costs": asdict(plans[0].costs), "assumptions": asdict(plans[0].assumed)}
    return json.dumps({**given, "plans": told}, indent=2)


def _as_table(plans: list[Plan]) -> str:
    heads = ("", *(f"{one.devices:,} a week" for one in plans))
    rows = [heads, *needs(plans)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
