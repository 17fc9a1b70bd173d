"""Some rows of a table as Parquet, written while it is sent.

All rows in their order are the file that was signed for; what is made here is not, and says so.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portal.releases.beside import Beside
from portal.releases.filtering import Filter
from portal.releases.opening import OpenTable

# Rows in a group: what is in memory at a time.
_GROUP = 1 << 16


def as_parquet(table: OpenTable, asked: Filter) -> Iterator[bytes]:
    """The same columns and types as the file's; its metadata name the rows that were asked for."""
    names, path = Beside(table).file_names, table.layout.file.path
    schema = pq.read_schema(path)
    about = {**(schema.metadata or {}), b"mayfly_rows": asked.querystring().encode()}
    schema = schema.with_metadata(about)
    sink = _Sink()
    with pq.ParquetWriter(sink, schema, compression="zstd", version="2.6") as writer:
        for batch in table.question(asked, names).batches(table.layout.file, size=_GROUP):
            columns = [_as(column, field.type) for column, field in zip(batch, schema, strict=True)]
            rows = pa.record_batch(columns, schema=schema)
            writer.write_batch(rows, row_group_size=_GROUP)
            yield sink.taken()
    yield sink.taken()


def _as(column: Any, wanted: pa.DataType) -> Any:
    if pa.types.is_dictionary(wanted):
        return column.dictionary_encode().cast(wanted)
    return column.cast(wanted)


class _Sink:
    """A file that only grows, and forgets what was taken from it."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, part: Any) -> int:
        raw = bytes(part)
        self._parts.append(raw)
        self._size += len(raw)
        return len(raw)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)
