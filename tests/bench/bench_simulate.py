"""What a simulation costs as it grows: time per device, and the server's memory.

Both beside the smallest size of the same run: 1 is linear time, and memory that does not grow.
Start and end are left out, as they are the same for all sizes.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure, is_full
from tests.parts import ROOT, clean_environment

SERVER = ("web", "sessions", "jobs", "valkey")


def figures() -> Iterator[Figure]:
    sizes = (10_000, 100_000, 1_000_000) if is_full() else (1_000, 5_000)
    found = {size: _simulated(size) for size in sizes}
    first = found[sizes[0]]
    beside = f"{sizes[0]:,} devices"
    for size, result in found.items():
        each = 1e6 * result["seconds"] / size
        floor = 1e6 * first["seconds"] / sizes[0]
        yield Figure(f"simulate {size:,} devices, a week", each, floor, "µs per device", beside)
        yield Figure(
            f"simulate {size:,} devices, memory of the server",
            _server_megabytes(result), _server_megabytes(first), "MB at most", beside,
        )  # fmt: skip
    largest = found[sizes[-1]]
    rate = largest["wake_ups"] / largest["processor_seconds_of_phones"]
    yield Figure(
        "simulated wake-ups, lives included", rate, 1500, "per second per core", "at least"
    )


def _simulated(devices: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mayfly-bench-simulate-") as folder:
        command = ["manage.py", "simulate", "--devices", str(devices), "--json"]
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT, env={**clean_environment(), "MAYFLY_DATA": folder},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _server_megabytes(result: dict[str, Any]) -> float:
    return sum(result["peak_kilobytes"][name] for name in SERVER) / 1000
