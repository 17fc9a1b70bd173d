"""Rows of a table as CSV, JSON, GeoJSON or Parquet: made of its file, the same bytes on every read.

Read and sent a batch at a time: an export of any length takes the memory of one batch.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from portal.releases.beside import Beside
from portal.releases.filtering import Filter
from portal.releases.opening import OpenTable
from portal.spreadsheets import harmless
from portal.streams.gazetteer import gazetteer

BATCH = 5000
_CHUNK = 1 << 18
Make = Callable[[OpenTable, Filter], Iterator[bytes]]


def as_it_is(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def as_csv(table: OpenTable, asked: Filter) -> Iterator[bytes]:
    beside = Beside(table)
    yield _lines([beside.names])
    for rows in _batches(beside, asked):
        yield _lines([["" if v is None else harmless(v) for v in row] for row in rows])


def as_json(table: OpenTable, asked: Filter) -> Iterator[bytes]:
    """An array of objects, one a line; numbers that are suppressed are null."""
    names = (beside := Beside(table)).names
    rows = (dict(zip(names, row, strict=True)) for row in _rows(beside, asked))
    yield from _listed(rows, b"[", b"]\n")


def as_geojson(table: OpenTable, asked: Filter) -> Iterator[bytes]:
    """A point per row, at its place; what is known of the row is in its properties."""
    beside = Beside(table)
    names, places = beside.names, gazetteer().places
    at = names.index(table.region_key)

    def feature(row: Sequence[Any]) -> dict[str, Any]:
        place = places.get(row[at])
        point = [place.longitude, place.latitude] if place else None
        return {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": point} if point else None,
            "properties": dict(zip(names, row, strict=True)),
        }

    features = (feature(row) for row in _rows(beside, asked))
    yield from _listed(features, b'{"type":"FeatureCollection","features":[', b"]}\n")


def _rows(beside: Beside, asked: Filter) -> Iterator[Sequence[Any]]:
    for rows in _batches(beside, asked):
        yield from rows


def _batches(beside: Beside, asked: Filter) -> Iterator[Iterator[Sequence[Any]]]:
    table = beside.table
    question = table.question(asked, beside.file_names)
    for batch in question.batches(table.layout.file, size=BATCH):
        yield beside.rows(batch)


def _listed(things: Iterator[dict[str, Any]], opening: bytes, end: bytes) -> Iterator[bytes]:
    """One a line, many in a chunk."""
    parts, before = [opening], b"\n"
    for thing in things:
        parts += [before, msgspec.json.encode(thing)]
        before = b",\n"
        if len(parts) > BATCH:
            yield b"".join(parts)
            parts = []
    yield b"".join(parts) + (b"\n" if before != b"\n" else b"") + end


def _lines(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
