"""Parquet files of a release: made of the committed numbers, the same bytes each time.

A file has one row per declared cell (or row of a marginal), in the order of the domain, suppressed
ones included with their reason. Per published column: its value, the half-width of its interval at
95 %, the noise's part of it, the clip correction it contains and the clip uncertainty. Nothing
about the machine or the moment goes into a file; the writer's version does, so a file is made
once, and its hash stands in the signed manifest.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aggregation.protocol.part import Floats
from aggregation.protocol.ranks import Cells
from aggregation.release.tables import Column, Table

WINDOW = "privacy_time_unit"
SUPPRESSED = "suppressed"
# Of a file's name, before its prefix and ending.
_LONGEST = 180


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself, in its metadata under `mayfly`."""

    task: str
    window: str
    epsilon: str
    # Hash of the noised numbers it is made of.
    noised: str
    # What the half-widths cover, in a sentence.
    intervals: str


def file_name(names: Iterable[str], *, all_keys: Iterable[str], prefix: str = "") -> str:
    """`cells.parquet`, `by-country-activity.parquet`, `total.parquet`.

    Names of keys are SQL names without a hyphen, so no two sets of keys have the same file. Where
    many long ones would make a name that no folder takes, a hash of them stands in.
    """
    names, full = tuple(names), tuple(all_keys)
    stem = "cells" if names == full else "-".join(("by", *names)) if names else "total"
    if len(stem) > _LONGEST:
        stem = f"by-{len(names)}-keys-{hashlib.sha256(stem.encode()).hexdigest()[:16]}"
    return f"{prefix}{stem}.parquet"


def write_parquet(pieces: Iterable[Table], about: About, path: Path) -> str:
    """Write a table given in pieces, and tell the file's hash. All of it appears, or nothing."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.new")
    try:
        _write(pieces, about, temporary)
        with temporary.open("rb+") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return digest


def _write(pieces: Iterable[Table], about: About, path: Path) -> None:
    writer: Any = None
    for piece in pieces:
        batch = _batch(piece, about)
        if writer is None:
            writer = pq.ParquetWriter(path, batch.schema, compression="zstd", version="2.6")
        writer.write_batch(batch, row_group_size=len(piece))
    if writer is not None:
        writer.close()


def _batch(table: Table, about: About) -> pa.RecordBatch:
    fields = list(_fields(table, about))
    metadata = {"mayfly": msgspec.json.encode(about, order="sorted")}
    schema = pa.schema([(name, array.type) for name, array in fields], metadata=metadata)
    return pa.record_batch([array for _, array in fields], schema=schema)


def _fields(table: Table, about: About) -> Iterator[tuple[str, Any]]:
    ranks = np.arange(table.first, table.first + len(table))
    for key in table.cells.names:
        yield key, _key(table.cells, key, ranks)
    yield WINDOW, _texts(np.zeros(len(table), dtype=np.uint8), (about.window,))
    taken = {*table.cells.names, WINDOW, *(column.name for column in table.columns)}
    for column in table.columns:
        yield column.name, _numbers(column.values)
        for part, array in _beside(column):
            yield _free(f"{column.name}_{part}", taken), array
    reasons = _texts(table.reasons, table.sentences, absent=table.reasons == 0)
    yield _free(SUPPRESSED, taken), reasons


def _free(name: str, taken: set[str]) -> str:
    """A task may have called a metric `km_noise` itself: ours gets an underscore more."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _beside(column: Column) -> Iterator[tuple[str, Any]]:
    """What stands beside a value."""
    yield "half_width", _numbers(column.half_width)
    yield "noise", _numbers(column.noise_half_width)
    yield "clip_correction", _numbers(column.clip_correction)
    clip = column.clip_uncertainty
    none = pa.nulls(len(column.values), pa.float64())
    yield "clip_uncertainty", none if clip is None else _numbers(clip)
    for note in column.notes:
        yield note.name, _texts(note.codes, note.texts, absent=note.absent)


def _numbers(values: Floats) -> Any:
    return pa.array(values, from_pandas=True)  # NaN is a number that is not shown


def _key(cells: Cells, key: str, ranks: np.ndarray[Any, Any]) -> Any:
    domain = cells.domains[cells.names.index(key)]
    indices = cells.indices(ranks, key)
    values = pa.array(list(domain))
    if domain.is_text:
        return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int32)), values)
    return values.take(pa.array(indices))


def _texts(codes: Any, texts: tuple[str, ...], *, absent: Any = None) -> Any:
    indices = pa.array(codes.astype(np.int32), mask=absent)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()))
