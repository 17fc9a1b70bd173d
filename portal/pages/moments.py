"""Moments in words."""

from datetime import datetime, timedelta

_STEPS = (
    (timedelta(days=365), "year"),
    (timedelta(days=30), "month"),
    (timedelta(days=7), "week"),
    (timedelta(days=1), "day"),
    (timedelta(hours=1), "hour"),
    (timedelta(minutes=1), "minute"),
)


def relative(moment: datetime, *, now: datetime) -> str:
    """`3 minutes ago`, `in 2 days`, `just now`."""
    distance = abs(now - moment)
    if distance < timedelta(seconds=45):
        return "just now"
    words = in_words(distance)
    return f"{words} ago" if moment <= now else f"in {words}"


def in_words(length: timedelta) -> str:
    """The length in its largest unit, rounded down: 119 minutes are `1 hour`."""
    for unit, name in _STEPS:
        if length >= unit:
            return _count(length // unit, name)
    return _count(int(length.total_seconds()), "second")


def countdown(seconds: int) -> str:
    """`in 0:42` within an hour, so that it can be seen to run; else in words."""
    if seconds < 3600:
        return f"in {seconds // 60}:{seconds % 60:02d}"
    return f"in {in_words(timedelta(seconds=seconds))}"


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
