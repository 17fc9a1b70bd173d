"""The audit log as a file: what the hashes cover, so that anyone can verify it by hand.

Read and sent a batch at a time: an export of any length takes the memory of one batch, and other
requests do not wait for it.
"""

import csv
import io
import json
from collections.abc import AsyncIterator, Callable, Iterable

from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from portal.audit.models import Entry
from portal.spreadsheets import harmless

BATCH = 2000
Write = Callable[[list[Entry]], str]
_COLUMNS = (
    "seq", "at", "civil_at", "actor", "action", "object_type", "object_id", "object_label",
    "changes", "hash",
)  # fmt: skip


async def as_json_lines(entries: QuerySet[Entry]) -> AsyncIterator[str]:
    """One entry a line, oldest first, with its hash."""
    async for text in _in_batches(entries, _lines):
        yield text


async def as_csv(entries: QuerySet[Entry]) -> AsyncIterator[str]:
    yield _rows([_COLUMNS])
    async for text in _in_batches(entries, lambda batch: _rows(map(_cells, batch))):
        yield text


async def _in_batches(entries: QuerySet[Entry], write: Write) -> AsyncIterator[str]:
    """Batches are read and written in a thread: the event loop belongs to all requests."""
    after = 0
    while batch := await sync_to_async(_batch)(entries, after):
        yield await sync_to_async(write)(batch)
        after = batch[-1].seq


def _batch(entries: QuerySet[Entry], after: int) -> list[Entry]:
    return list(entries.filter(seq__gt=after).order_by("seq")[:BATCH])


def _lines(batch: list[Entry]) -> str:
    return "".join(
        json.dumps({**entry.content(), "hash": entry.hash}, ensure_ascii=False) + "\n"
        for entry in batch
    )


def _cells(entry: Entry) -> list[str]:
    changes = "; ".join(f"{c['field']}: {c['from']} → {c['to']}" for c in entry.changes)
    content = {**entry.content(), "hash": entry.hash, "changes": changes}
    return [harmless(str(content[name])) for name in _COLUMNS]


def _rows(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
