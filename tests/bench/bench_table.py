"""A page of the table of 1.35 million keys × 3 metrics, beside DuckDB's bare query; an export.

Ours is what a page reads: a page of rows with all that stands beside a number, and how many rows
there are. DuckDB's is the shortest query that gives the same keys, values and half-widths.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

from aggregation.core.group_by_sum import Report
from aggregation.protocol.anonymization import GRID
from aggregation.release.estimates import cell_estimates
from aggregation.release.noise import add_noise
from aggregation.release.publish import Source
from aggregation.release.render import write_parquet
from aggregation.release.tables import chunks
from portal.releases.exports import as_csv
from portal.releases.files import TableFile
from portal.releases.filtering import Filter
from portal.releases.opening import OpenTable
from portal.releases.querying import DOWN
from portal.releases.reading import PAGE_SIZE, count_rows, layout_of, read_rows
from tests.bench.bench_release import WEEK, NumpyNoise, world
from tests.bench.figures import Figure, seconds_each

PAGES = {
    "first page": ({}, "", 0),
    "millionth row": ({}, "", 1_000_000),
    "largest first": ({}, "num_trips", 0),
    "of one place": ({"region": ["100123"]}, "", 0),
    "of one activity, largest first": ({"activity": ["cycling"]}, "num_trips", 0),
    "half a million rows down, largest first": ({}, "num_trips", 500_000),
}


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        table = _table(Path(folder))
        for name, (where, sort, first) in PAGES.items():
            ours = seconds_each(lambda: _page(table, where, sort, first), times=1)  # noqa: B023
            bare = _bare(table, where, sort)
            with duckdb.connect(config={"threads": 2}) as database:
                peer = seconds_each(
                    lambda: database.execute(bare, [first]).fetchall(),  # noqa: B023
                    times=1,
                )
            beside = "DuckDB's bare query"
            yield Figure(f"table page, {name}", ours * 1000, peer * 1000, "ms", beside)
        yield _export(table, Path(folder))


def _page(table: OpenTable, where: dict[str, list[str]], sort: str, first: int) -> None:
    layout = table.layout
    count_rows(layout.file, layout, where)
    read_rows(layout.file, layout, where=where, sort=sort, order=DOWN, first=first, count=PAGE_SIZE)


def _bare(table: OpenTable, where: dict[str, list[str]], sort: str) -> str:
    layout = table.layout
    columns = [*layout.keys, *(name for c in layout.columns for name in (c.value, c.beside[0]))]
    only = "".join(f" WHERE {key} = '{values[0]}'" for key, values in where.items())
    by = f" ORDER BY {sort} DESC NULLS LAST" if sort else ""
    rows = f"FROM '{layout.file.path}'{only}{by} LIMIT {PAGE_SIZE} OFFSET ?"
    return f"SELECT {', '.join(columns)} {rows}"


def _export(table: OpenTable, folder: Path) -> Figure:
    began = time.process_time()
    for _ in as_csv(table, Filter()):
        pass
    ours = time.process_time() - began
    began = time.process_time()
    with duckdb.connect(config={"threads": 2}) as database:
        rows = f"FROM '{table.layout.file.path}'"
        database.execute(f"COPY (SELECT * {rows}) TO '{folder / 'all.csv'}'")
    peer = time.process_time() - began
    return Figure("export of 1.35 M rows as CSV", ours, peer, "CPU s", "DuckDB's COPY to a file")


def _table(folder: Path) -> OpenTable:
    """A tenth of the cells is shown."""
    made = world()
    rng = np.random.default_rng(1)
    shown = rng.random((made.shape[0], 1)) < 0.1
    sums = rng.integers(0, 4000 * GRID, size=made.shape) * shown
    noised = add_noise(Report(10**6, sums), made, draws=NumpyNoise())
    source, path = Source("world", WEEK, made, noised), folder / "cells.parquet"
    pieces = chunks(cell_estimates(noised, made), made.config)
    sha256 = write_parquet(pieces, source.about, path)
    file = TableFile("cells", path, sha256)
    layout = layout_of(file, made.config.metrics)
    return OpenTable(None, made.config, layout)  # type: ignore[arg-type] # nothing asks for the row
