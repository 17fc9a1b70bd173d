"""What the numbers of a column count: kilometres, minutes, trips."""

from aggregation.errors import Problem
from aggregation.release.emissions import COLUMN as EMISSIONS
from portal.streams import selectors as streams

# Ends of names that say it themselves.
_ENDINGS = {"km": "km", "min": "min", "ms": "ms", "kg": "kg", "hours": "h"}


def unit_of(column: str, stream_names: tuple[str, ...]) -> str:
    """That of a stream's column of the same name, or what the name ends in; else nothing."""
    if column == EMISSIONS:
        return "kg CO₂e"
    for name in stream_names:
        unit = _declared(name, column)
        if unit:
            return unit
    return _ENDINGS.get(column.rpartition("_")[2], "")


def spoken(column: str, unit: str) -> str:
    """The column in plain words: `distance_km` is `distance`, `num_trips` is `trips`."""
    if column == EMISSIONS:
        return "emissions"
    words = column.removeprefix("num_").split("_")
    if len(words) > 1 and unit and words[-1] == unit:
        words.pop()
    return " ".join(words)


def counted(column: str, unit: str) -> str:
    """What its numbers are of, to stand behind one: `km`, or `trips` where there is no unit."""
    return unit or spoken(column, unit)


def label(column: str, unit: str) -> str:
    """For a form or the head of a table: `distance (km)`, `trips`."""
    name = spoken(column, unit)
    return f"{name} ({unit})" if unit and unit != name else name


def _declared(stream: str, column: str) -> str:
    try:
        found = streams.installed_catalog().stream(stream)
    except Problem:  # no streams installed
        return ""
    declared = found.column(column) if found else None
    return declared.unit if declared else ""
