"""A whole release of 1.35 million keys × 3 metrics, beside the same with other noise; merging.

A release here is everything from the sums to the files: noise, the stored form, all sums over
keys, suppression, intervals, Parquet. It runs in a process of its own, so that its peak memory is
its own. OpenDP's noise is timed on a part and scaled up: all of it takes most of a minute.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum, Report
from aggregation.protocol.anonymization import GRID, GroupScaling
from aggregation.protocol.part import Parts
from aggregation.protocol.shipped import ACTIVITIES, DIRECTIONS
from aggregation.protocol.windows import Unit, Window
from aggregation.release.grouping import Grouping
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.publish import Source, write_files
from aggregation.release.recipe import Recipe
from tests.aggregation.release.examples import METRICS, recipe
from tests.bench.figures import Figure

REGIONS, COUNTRIES, EPSILON = 50_000, 200, 2
WEEK = Window.parse("2026-11-09", Unit.WEEK)
# Coordinates that OpenDP noises in the run.
PART = 200_000
MEMORY_MB = 1500


class NumpyNoise:
    """numpy's float Laplace, rounded: unsafe, and as quick as it gets."""

    def draw(self, count: int) -> np.ndarray:
        return np.rint(np.random.default_rng().laplace(scale=GRID / EPSILON, size=count)).astype(
            np.int64
        )


def figures() -> Iterator[Figure]:
    ours, unsafe = _in_its_own_process("exact"), _in_its_own_process("numpy")
    opendp = unsafe["release"] - unsafe["noise"] + _opendp_seconds()
    name = "release of 4.05 M statistics"
    yield Figure(name, ours["release"], unsafe["release"], "CPU s", "the same, numpy's float noise")
    yield Figure(name, ours["release"], opendp, "CPU s", "the same, OpenDP's noise (scaled up)")
    yield Figure("release, noise alone", ours["noise"], unsafe["noise"], "CPU s", "numpy, unsafe")
    yield Figure("release, peak memory", ours["memory"], MEMORY_MB, "MB", "the limit we hold")
    yield Figure("release, stored form", ours["stored"], 4.05 * 8, "MB", "the plain integers")
    yield from _merging()


def world() -> Recipe:
    scales = {str(a): dict(zip(METRICS, (20.0, 200.0, 400.0), strict=True)) for a in ACTIVITIES}
    domains = {
        "region": tuple(str(100_000 + n) for n in range(REGIONS)),
        "activity": tuple(ACTIVITIES),
        "direction": tuple(DIRECTIONS),
    }
    return recipe(
        mechanism=GroupScaling(("activity",), scales, 3.0), domains=domains, epsilon=str(EPSILON)
    )


def _in_its_own_process(kind: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.bench_release", kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def _one_release(kind: str) -> dict[str, float]:
    made = world()
    rng = np.random.default_rng(1)
    # A tenth of the cells hold enough to be shown.
    sums = rng.integers(0, 400 * GRID, size=made.shape) * (rng.random((len(made.cells.domains[0])
           * 27, 1)) < 0.1)  # fmt: skip
    places = [f"C{n * COUNTRIES // REGIONS:03d}" for n in range(REGIONS)]
    grouping = Grouping.by("country", "region", places)
    began = time.process_time()
    noised = add_noise(Report(10**6, sums), made, draws=NumpyNoise() if kind == "numpy" else None)
    noise = time.process_time() - began
    stored = noised.encode()
    with tempfile.TemporaryDirectory() as folder:
        write_files(
            Source("world", WEEK, made, Noised.decode(stored), grouping=grouping), Path(folder)
        )
    release = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"noise": noise, "release": release, "memory": peak, "stored": len(stored) / 1e6}


def _opendp_seconds() -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=GRID / EPSILON)
    began = time.process_time()
    mechanism([0] * PART)
    return (time.process_time() - began) * REGIONS * 27 * 3 / PART


def _merging() -> Iterator[Figure]:
    """Level-1 partials of 10,000 devices each, parsed and merged, beside adding bare arrays."""
    params = Params(cells=REGIONS * 27, metrics=3, max_rows=64, min_contributions=1000)
    raw, bare = _partial(params)
    times = 20
    merged = GroupBySum(params)
    began = time.process_time()
    for _ in range(times):
        merged.merge(GroupBySum.parse(raw, params))
    ours = times * len(bare[0]) / (time.process_time() - began)
    dense = np.zeros((params.cells, 3), dtype=np.int64)
    began = time.process_time()
    for _ in range(times):
        dense[bare[0]] += bare[1]
    floor = times * len(bare[0]) / (time.process_time() - began)
    yield Figure("merge of partials", ours / 1e6, floor / 1e6, "M cells/s", "adding bare arrays")


def _partial(params: Params) -> tuple[bytes, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(2)
    devices, rows = 10_000, 12
    ranks = np.sort(rng.integers(0, params.cells, (devices, rows)), axis=1)
    ranks += np.arange(rows)  # strictly increasing
    values = rng.integers(0, GRID // 64, (devices * rows, 3))
    core = GroupBySum(params)
    flat = np.minimum(ranks, params.cells - rows + np.arange(rows)).astype(np.uint32).reshape(-1)
    core.accumulate_batch(Parts(np.arange(devices + 1) * rows, flat, values))
    cells = np.unique(flat)
    return core.serialise(), (cells, np.ones((len(cells), 3), dtype=np.int64))


if __name__ == "__main__":
    for name, value in _one_release(sys.argv[1]).items():
        print(name, value)
