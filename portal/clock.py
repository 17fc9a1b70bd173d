"""The civil clock the settings choose. Services take it as an argument; views and jobs ask here."""

from datetime import UTC, datetime, timedelta
from functools import cache

from django.conf import settings

from aggregation.clock import Clock, SimulatedClock, SystemClock
from aggregation.protocol.windows import Unit, Window


@cache
def civil_clock() -> Clock:
    return simulated_clock() if settings.CLOCK == "simulated" else SystemClock()


def simulated_clock() -> SimulatedClock:
    return SimulatedClock(settings.CLOCK_FILE)


def start_demo_clock() -> None:
    """An hour before this week began, standing still; once per data folder. The fleet lets it run.

    Whatever is approved in that hour collects from the week's first moment on.
    """
    clock = simulated_clock()
    if settings.CLOCK == "simulated" and settings.SCENARIO != "none" and not clock.exists():
        week = Window.containing(datetime.now(UTC), Unit.WEEK)
        clock.start(week.start - timedelta(hours=1), speed=0)
