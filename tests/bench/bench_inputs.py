"""What an input costs, and whether memory stays flat: beside landing it in DuckDB and GROUP BY.

Ours takes padded, plain updates with all checks on, in sessions of 10,000 devices, each completed
before the next, as a worker does. The peer lands the same bytes: it is given the padded rows as
columns, for nothing, writes them to a table on disk and sums them at the end. It checks nothing
and keeps every row. Each runs in a process of its own, with one thread, for a number of inputs and
for ten times as many. With `--full` that is a million and ten million.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
import ormsgpack

from aggregation.protocol.ids import fresh_session_id, fresh_update_id
from aggregation.protocol.update import FILLER
from aggregation.sessions.session import Session
from tests.aggregation.sessions.examples import WEEK
from tests.bench.bench_session import CONFIG, PlainKeys, _update
from tests.bench.figures import Figure, is_full

# As a worker takes them.
BATCH, BODIES = 1024, 1000
SESSION = CONFIG.aggregation.max_contributions
PEER = "DuckDB: the same bytes landed on disk, then GROUP BY"


def figures() -> Iterator[Figure]:
    few = 1_000_000 if is_full() else 50_000
    found = {
        (kind, inputs): _in_its_own_process(kind, inputs)
        for inputs in (few, 10 * few)
        for kind in ("ours", "duckdb")
    }
    for inputs in (few, 10 * few):
        (cost, peak), (peer_cost, peer_peak) = found["ours", inputs], found["duckdb", inputs]
        of = f"{inputs:,} inputs"
        yield Figure(f"CPU per input, {of}", cost, peer_cost, "µs", PEER)
        yield Figure(f"peak memory, {of}", peak, peer_peak, "MB", PEER)
    grown, peer_grown = (found[k, 10 * few][1] - found[k, few][1] for k in ("ours", "duckdb"))
    yield Figure("memory for ten times the inputs", max(0.1, grown), peer_grown, "MB more", PEER)


def _in_its_own_process(kind: str, inputs: int) -> tuple[float, float]:
    command = [sys.executable, "-m", "tests.bench.bench_inputs", kind, str(inputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    cost, peak = map(float, done.stdout.split())
    return cost, peak


def _ours(inputs: int) -> float:
    """Processor seconds of our own work: ids are made beforehand, as front ends do."""
    body, spent = cycle([_update(n) for n in range(BODIES)]), 0.0
    for first in range(0, inputs, SESSION):
        size = min(SESSION, inputs - first)
        ids = [fresh_update_id() for _ in range(size)]
        began = time.process_time()
        session = Session(
            id=fresh_session_id(), config=CONFIG, keys=PlainKeys.fresh(), windows=[WEEK]
        )
        for at in range(0, size, BATCH):
            session.take([(one, next(body)) for one in ids[at : at + BATCH]])
        left = session.complete(open_windows=[WEEK], handing_over=[WEEK])
        spent += time.process_time() - began
        assert left.accepted == size
    return spent


def _duckdb(inputs: int) -> float:
    import duckdb
    import pyarrow as pa

    bodies = [_update(n) for n in range(BODIES)]
    said = [ormsgpack.unpackb(body) for body in bodies] * (SESSION // BODIES)
    cells = np.concatenate([np.frombuffer(one["cells"][0], dtype="<u4") for one in said])
    values = np.concatenate([np.frombuffer(one["values"][0], dtype="<i8") for one in said])
    columns = values.reshape(len(cells), -1).T.copy()
    rows = pa.table({"cell": cells, **{f"m{n}": one for n, one in enumerate(columns)}})
    with tempfile.TemporaryDirectory() as folder:
        database = duckdb.connect(str(Path(folder) / "landed.duckdb"))
        database.execute("SET threads = 1")
        database.execute("CREATE TABLE landed (cell UINTEGER, m0 BIGINT, m1 BIGINT, m2 BIGINT)")
        database.register("rows", rows)
        began = time.process_time()
        for _ in range(inputs // SESSION):
            database.execute("INSERT INTO landed SELECT * FROM rows")
        summed = "SELECT cell, SUM(m0), SUM(m1), SUM(m2) FROM landed WHERE cell <> ? GROUP BY cell"
        assert database.execute(summed, [FILLER]).fetchnumpy()
        return time.process_time() - began


def main(kind: str, inputs: int) -> None:
    spent = (_ours if kind == "ours" else _duckdb)(inputs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(spent / inputs * 1e6, peak)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
