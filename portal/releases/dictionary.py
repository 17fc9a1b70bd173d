"""The data dictionary of a release: what every column of every table means, and in which unit."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from aggregation.errors import Problem
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.streams import Column
from aggregation.release.emissions import COLUMN as EMISSIONS
from aggregation.release.render import WINDOW
from portal.releases.beside import Beside
from portal.releases.files import TableFile
from portal.releases.models import Release
from portal.releases.opening import OpenTable, open_table, opened
from portal.releases.reading import ColumnNames
from portal.streams import selectors as streams

_BESIDE = (
    ("Half-width of the interval at 95 %: the true number lies within value ± this.", True),
    ("The noise's part of the half-width.", True),
    (
        "What undoing the clip loss added to the value, as a share of what the value was before.",
        False,
    ),
    ("What clipping may have moved, as a part of the half-width; empty where not known.", True),
)
_NOTE = "A note on this row's number in the column before; empty where there is nothing to say."
_SUPPRESSED = "Why the row is not shown, and so has no numbers; empty for a row that is shown."


@dataclass(frozen=True)
class Entry:
    """One column."""

    name: str
    # text, integer or real
    type: str
    # What the number counts; empty where it has none.
    unit: str
    meaning: str
    # Only in CSV, JSON, GeoJSON and the API, not in the file that is signed for.
    is_beside: bool = False


@dataclass(frozen=True)
class TableEntry:
    name: str
    title: str
    rows: int
    columns: tuple[Entry, ...]


def dictionary_of(release: Release) -> list[TableEntry]:
    """Every table with its columns in their order."""
    shown = opened(release)
    return [_table(open_table(release, file.name), file) for file in shown.files]


def dictionary_document(release: Release) -> dict[str, Any]:
    """The same for programs."""
    shown, window = opened(release), release.window.as_window()
    return {
        "task": release.window.task.name,
        "window": window.id,
        "label": window.label,
        "intervals": shown.intervals,
        "tables": [asdict(one) for one in dictionary_of(release)],
    }


def columns_of(tables: list[TableEntry]) -> list[Entry]:
    """Every column once, however many tables have it. What is a key of one and stands beside a key
    of another, as countries do, has both meanings."""
    found: dict[str, list[Entry]] = {}
    for column in dict.fromkeys(column for table in tables for column in table.columns):
        found.setdefault(column.name, []).append(column)
    return [_merged(same) for same in found.values()]


def _merged(same: list[Entry]) -> Entry:
    first, *others = same
    if not others:
        return first
    notes = [f"{one.meaning}{' (Not in Parquet.)' if one.is_beside else ''}" for one in same]
    meaning = " Or: ".join(dict.fromkeys(notes))
    return replace(first, meaning=meaning, is_beside=all(one.is_beside for one in same))


def _table(table: OpenTable, file: TableFile) -> TableEntry:
    beside = Beside(table)
    found = {one.name: one for one in _of_the_file(table)}
    found |= {e.name: Entry(e.name, e.type, "", e.meaning, is_beside=True) for e in beside.extras}
    columns = tuple(found[name] for name in beside.names)
    return TableEntry(file.name, file.title, table.layout.rows, columns)


def _of_the_file(table: OpenTable) -> Iterator[Entry]:
    layout = table.layout
    for key in layout.keys:
        yield _key(table, key)
    yield Entry(WINDOW, "text", "", "Id of the window: its first day or hour, UTC.")
    for column in layout.columns:
        yield from _number(table.config, column)
    yield Entry(layout.suppressed, "text", "", _SUPPRESSED)


def _key(table: OpenTable, key: str) -> Entry:
    column = _declared(table.config, key)
    if column is not None:
        kind = "integer" if column.type == "integer" else "text"
        return Entry(key, kind, column.unit, column.description)
    whole = isinstance(next(iter(table.layout.values(key)), ""), int)
    country = key in table.country_keys
    meaning = "Country, ISO 3166 alpha-2." if country else "A key, as the task's queries name it."
    return Entry(key, "integer" if whole else "text", "", meaning)


def _number(config: ServerConfig, column: ColumnNames) -> Iterator[Entry]:
    unit, meaning = _measure(config, column.value)
    yield Entry(column.value, "real", unit, meaning)
    for name, (part, is_amount) in zip(column.beside, _BESIDE, strict=True):
        yield Entry(name, "real", unit if is_amount else "", part)
    for name in column.notes:
        yield Entry(name, "text", "", _NOTE)


def _measure(config: ServerConfig, name: str) -> tuple[str, str]:
    if name == EMISSIONS:
        return "kg", "Greenhouse gases in CO₂ equivalents: noised kilometres times public factors."
    if derived := next((one for one in config.derived if one.name == name), None):
        times = "" if derived.factor == 1 else f" × {derived.factor:g}"
        return "", f"{derived.numerator} / {derived.denominator}{times}, of the noised sums."
    column = _declared(config, name)
    if column is None:
        return "", "A noised sum over devices, as the task's queries define it."
    return column.unit, f"A noised sum over devices. {column.description}"


def _declared(config: ServerConfig, name: str) -> Column | None:
    """The column of a stream that has this name."""
    try:
        catalog = streams.installed_catalog()
    except Problem:  # no streams installed
        return None
    found = (catalog.stream(stream) for stream in config.streams)
    return next((c for stream in found if stream and (c := stream.column(name))), None)
