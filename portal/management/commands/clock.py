"""Look at the simulated civil clock, or move it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aggregation.errors import Problem
from portal.clock import simulated_clock


class Command(BaseCommand):
    help = "The simulated civil clock (MAYFLY_CLOCK=simulated): show, start, set, advance, speed."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["show", "start", "set", "advance", "speed"])
        parser.add_argument("value", nargs="?", help="a UTC moment, hours, or a speed")

    def handle(self, *args: Any, action: str, value: str | None, **options: Any) -> None:
        clock = simulated_clock()
        if action in ("start", "set"):
            moment = _moment(value)
            clock.set(moment) if action == "set" else clock.start(moment, speed=0)
        elif action == "advance":
            clock.advance(timedelta(hours=_number(value)))
        elif action == "speed":
            clock.set_speed(_number(value))
        print(f"{clock.now():%Y-%m-%d %H:%M:%S} UTC, {clock.speed:g} × real time")


def _moment(value: str | None) -> datetime:
    try:
        moment = datetime.fromisoformat(value or "")
    except ValueError:
        raise Problem(
            f"{value!r} is not a moment.", hint="Give one such as 2026-11-09T00:00, in UTC."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _number(value: str | None) -> float:
    try:
        return float(value or "")
    except ValueError:
        raise Problem(f"{value!r} is not a number.") from None
