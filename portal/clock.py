"""The civil clock the settings choose. Services take it as an argument; views and jobs ask here."""

from functools import cache

from django.conf import settings

from aggregation.clock import Clock, SimulatedClock, SystemClock


@cache
def civil_clock() -> Clock:
    return simulated_clock() if settings.CLOCK == "simulated" else SystemClock()


def simulated_clock() -> SimulatedClock:
    return SimulatedClock(settings.CLOCK_FILE)
