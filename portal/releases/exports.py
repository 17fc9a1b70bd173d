"""A table of a release as CSV or JSON: made of its Parquet file, the same bytes on every read.

Read and sent a batch at a time, in a thread: an export of any length takes the memory of one
batch, and the event loop belongs to all requests.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from asgiref.sync import sync_to_async

BATCH = 5000
_CHUNK = 1 << 18


async def as_it_is(path: Path) -> AsyncIterator[bytes]:
    async for chunk in _in_a_thread(lambda: _chunks(path)):
        yield chunk


async def as_csv(path: Path) -> AsyncIterator[bytes]:
    async for chunk in _in_a_thread(lambda: _csv(path)):
        yield chunk


async def as_json(path: Path) -> AsyncIterator[bytes]:
    """An array of objects, one a line; numbers that are suppressed are null."""
    async for chunk in _in_a_thread(lambda: _json(path)):
        yield chunk


async def _in_a_thread(make: Callable[[], Iterator[bytes]]) -> AsyncIterator[bytes]:
    source = make()

    def following() -> bytes | None:
        return next(source, None)

    while (chunk := await sync_to_async(following)()) is not None:
        yield chunk


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _csv(path: Path) -> Iterator[bytes]:
    file = pq.ParquetFile(path)
    yield _lines([file.schema_arrow.names])
    for rows in _batches(file):
        yield _lines([["" if v is None else _harmless(v) for v in row] for row in rows])


def _json(path: Path) -> Iterator[bytes]:
    file = pq.ParquetFile(path)
    names, before = file.schema_arrow.names, "["
    for rows in _batches(file):
        for row in rows:
            pairs = dict(zip(names, row, strict=True))
            yield f"{before}\n{json.dumps(pairs, ensure_ascii=False)}".encode()
            before = ","
    yield b"\n]\n" if before == "," else b"[]\n"


def _batches(file: pq.ParquetFile) -> Iterator[list[tuple[Any, ...]]]:
    for batch in file.iter_batches(batch_size=BATCH):
        yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _lines(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _harmless(value: Any) -> Any:
    """A spreadsheet must not run a word; numbers are numbers, with their minus."""
    return "'" + value if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
