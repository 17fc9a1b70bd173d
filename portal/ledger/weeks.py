"""Civil weeks, and the weeks a window overlaps."""

from datetime import date

from aggregation.protocol.windows import Unit, Window


def mondays(window: Window) -> list[date]:
    """The Monday of every civil week that the window overlaps; a month has up to six."""
    week = Window.containing(window.start, Unit.WEEK)
    found = []
    while week.start < window.end:
        found.append(week.start.date())
        week = week.next()
    return found


def monday_of(window: Window) -> date:
    """The Monday of the week in which the window begins."""
    return Window.containing(window.start, Unit.WEEK).start.date()
