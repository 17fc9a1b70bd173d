"""Unpacking updates with all checks, beside a MessagePack library that checks nothing."""

from collections.abc import Iterator

import numpy as np
import ormsgpack

from aggregation.protocol.part import Part
from aggregation.protocol.update import Shape, pack, unpack_batch
from aggregation.protocol.windows import Unit, Window
from tests.bench.figures import Figure, seconds_each

SHAPE = Shape(Unit.WEEK, 64, 3)
WEEKS = [Window.parse(text, Unit.WEEK) for text in ("2026-11-02", "2026-11-09", "2026-11-16")]
BATCH = 1024


def figures() -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    for count in (1, 3):
        raws = [pack({w: _part(rng) for w in WEEKS[:count]}, SHAPE) for _ in range(BATCH)]
        ours = _per_update(lambda r=raws: unpack_batch(r, SHAPE, ever_open=WEEKS))
        peer = _per_update(lambda r=raws: [_parsed(raw) for raw in r])
        name = f"unpack_batch of {BATCH:,}, {count} windows of {SHAPE.max_rows} × {SHAPE.metrics}"
        yield Figure(name, ours, peer, "µs per update", "ormsgpack and frombuffer, no checks")


def _part(rng: np.random.Generator) -> Part:
    rows = int(rng.integers(0, 12))
    ranks = np.sort(rng.choice(100_000, rows, replace=False)).astype(np.uint32)
    return Part(ranks, rng.integers(-1000, 1000, (rows, SHAPE.metrics)))


def _parsed(raw: bytes) -> list[np.ndarray]:
    said = ormsgpack.unpackb(raw)
    return [
        *(np.frombuffer(cells, dtype="<u4") for cells in said["cells"]),
        *(np.frombuffer(values, dtype="<i8") for values in said["values"]),
    ]


def _per_update(work: object) -> float:
    return seconds_each(work, times=10, rounds=9) / BATCH * 1e6  # type: ignore[arg-type]
