"""Event files: a recorded data set, one row per event, checked against its stream before anything
runs. Rows stay in columns until a phone needs them.

Columns: `device` (anything that tells devices apart; it never leaves this process), `time` (UTC
unless it says otherwise), `utc_offset` in seconds if local time matters, and the stream's own.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.ondevice.events import event_columns
from aggregation.protocol.streams import Catalog, Column, Stream
from devices_sim.device.fitting import misfit_of, stream_of
from devices_sim.fleet.recording import Recording

_MAX_OFFSET = 18 * 3600


def read_events(path: Path, stream_name: str, catalog: Catalog) -> Recording:
    """The file's events; the first thing that is wrong is a `Problem` that names its row."""
    stream = stream_of(stream_name, catalog)
    table = _table(path)
    wanted = ["device", "time", *event_columns(stream)]
    if missing := [name for name in wanted if name not in table.column_names]:
        raise Problem(
            f"{path.name} has no column {missing[0]!r}.",
            hint=f"It needs {', '.join(wanted)}; utc_offset is optional.",
        )
    if not len(table):
        raise Problem(f"{path.name} has no events.")
    times, zones = _times(table, path)
    values = [_values(table, column, path, catalog) for column in _own(stream)]
    offsets = _utc_offsets(table, zones, path)
    return Recording.of(_devices(table, path), times, offsets, values)


def _table(path: Path) -> pa.Table:
    readers = {".parquet": pyarrow.parquet.read_table, ".csv": _read_csv}
    if path.suffix not in readers:
        raise Problem(f"{path.name} is neither .parquet nor .csv.", hint="Name it by what it is.")
    try:
        return readers[path.suffix](path)
    except FileNotFoundError:
        raise Problem(f"There is no file {path}.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None


def _read_csv(path: Path) -> pa.Table:
    """Every column as text: what it should be is the stream's to say, not the first row's."""
    with pyarrow.csv.open_csv(path) as head:
        names = head.schema.names
    types = {name: pa.string() for name in names}
    convert = pyarrow.csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=True,
        null_values=[""],
    )  # fmt: skip
    return pyarrow.csv.read_csv(path, convert_options=convert)


def _devices(table: pa.Table, path: Path) -> NDArray[np.int64]:
    """A number for each device, in order of appearance: its own name is needed no more."""
    column = table["device"]
    _refuse_first(path, "device", column, pc.is_null(column).to_numpy(), "is empty")
    numbers = _whole(column).dictionary_encode().indices
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks)


def _times(table: pa.Table, path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Seconds since 1970, and the offsets that times bring along (0 where they do not)."""
    column = table["time"]
    if pa.types.is_timestamp(column.type):
        return _of_timestamps(column, path), np.zeros(len(column), dtype=np.int64)
    moments, offsets = [], []
    for row, value in enumerate(column.to_pylist()):
        moment = _moment(value)
        if moment is None:
            raise _bad(path, row, "time", value, "is not a time", hint=_TIME_HINT)
        moments.append(moment.timestamp())
        offset = moment.utcoffset()
        offsets.append(int(offset.total_seconds()) if offset else 0)
    return np.array(moments), np.array(offsets, dtype=np.int64)


_TIME_HINT = "Give one such as 2026-11-09T08:30:00Z, or seconds since 1970."


def _moment(value: object) -> datetime | None:
    try:
        if isinstance(value, str) and not _is_number(value):
            moment = datetime.fromisoformat(value.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return datetime.fromtimestamp(float(value), UTC)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def _is_number(text: str) -> bool:
    """Seconds, not a date such as 20261109 (which ISO 8601 allows, and nobody means here)."""
    try:
        return abs(float(text)) >= 1e8
    except ValueError:
        return False


def _of_timestamps(column: pa.ChunkedArray, path: Path) -> NDArray[np.float64]:
    _refuse_first(path, "time", column, pc.is_null(column).to_numpy(), "is empty")
    kind = pa.timestamp("us", tz="UTC") if column.type.tz else pa.timestamp("us")
    micros = column.cast(kind, safe=False).cast(pa.int64()).to_numpy()
    return np.asarray(micros / 1e6, dtype=np.float64)


def _utc_offsets(table: pa.Table, zones: NDArray[np.int64], path: Path) -> NDArray[np.int64]:
    if "utc_offset" not in table.column_names:
        return zones
    column = _cast(table["utc_offset"], pa.int64(), path, "utc_offset", "a whole number of seconds")
    outside = pc.greater(pc.abs(column), _MAX_OFFSET)
    bad = pc.or_(pc.is_null(column), pc.fill_null(outside, True)).to_numpy()
    _refuse_first(path, "utc_offset", column, bad, "is no offset from UTC in seconds")
    return np.asarray(column.to_numpy(), dtype=np.int64)


_KINDS: dict[str, tuple[pa.DataType, str]] = {
    "text": (pa.string(), "text"),
    "integer": (pa.int64(), "a whole number"),
    "real": (pa.float64(), "a number"),
}


def _own(stream: Stream) -> list[Column]:
    return [column for name in event_columns(stream) if (column := stream.column(name))]


def _values(table: pa.Table, column: Column, path: Path, catalog: Catalog) -> pa.Array:
    """One column of the stream; each different value is judged once, as a phone would."""
    kind, words = _KINDS[column.type]
    found = _cast(table[column.name], kind, path, column.name, words)
    misfit = misfit_of(column, catalog)
    wrong = {value: why for value in found.unique().to_pylist() if (why := misfit(value))}
    for row, value in enumerate(found.to_pylist() if wrong else ()):
        why = wrong.get(value) or misfit(value)
        if why:
            raise _bad(path, row, column.name, value, why, hint=_remedy(column))
    return _whole(found)


def _remedy(column: Column) -> str:
    return "Its values are listed on the stream's page." if column.domain else ""


def _cast(
    column: pa.ChunkedArray, kind: pa.DataType, path: Path, name: str, words: str
) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    for row, value in enumerate(column.to_pylist()):
        if not _casts(value, column.type, kind):
            raise _bad(path, row, name, value, f"is not {words}")
    raise Problem(f"{path.name}: the column {name} is not {words}.")


def _casts(value: Any, given: pa.DataType, kind: pa.DataType) -> bool:
    try:
        pa.scalar(value, given).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True


def _refuse_first(
    path: Path, name: str, column: pa.ChunkedArray, bad: NDArray[np.bool_], why: str
) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise _bad(path, row, name, column[row].as_py(), why)


def _bad(path: Path, row: int, name: str, value: object, why: str, *, hint: str = "") -> Problem:
    """Rows count from 1, the names' line of a CSV not among them. Devices are not named."""
    shown = "" if name == "device" or value is None else f" {str(value)[:60]!r}"
    return Problem(f"{path.name}, row {row + 1}: {name}{shown} {why}.", hint=hint)
