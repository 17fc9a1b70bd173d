"""What the lab costs and gives: asking proxy devices, a rotated fit, and its error."""

import time
from collections.abc import Callable, Iterator

from aggregation.calibration.asking import asked
from aggregation.calibration.expecting import bounded_sums
from aggregation.calibration.fitting import fitted
from aggregation.calibration.scales import Scaled
from aggregation.calibration.weighing import Weights
from aggregation.compiler import Compiled, compile_spec
from aggregation.mechanisms import build_for
from devices_sim.fleet.ground_truth import sums_by_phone
from portal.lab.calibrating.world import catalog, homes, usual_window, world_events, world_of
from portal.lab.comparing import compare
from portal.lab.comparing.travellers import travellers
from portal.tasks.starting_points import starting_point
from tests.bench.figures import Figure, is_full

KEYS = ("region", "activity", "direction")


def figures() -> Iterator[Figure]:
    devices = 1_000_000 if is_full() else 50_000
    yield _asking(20_000 if is_full() else 5_000)
    yield _fitting(devices)
    yield _error(devices)


def _asking(phones: int) -> Figure:
    compiled = compile_spec(starting_point("weekly-trips").spec, catalog())
    assert isinstance(compiled, Compiled)
    task = compiled.client_task
    window = usual_window(task.window_unit)
    [places] = homes(1, [5])
    world = world_of(1, homes=places, per_region=phones // 5)
    floor = _cpu(lambda: list(sums_by_phone(world, "trips", window, keys=KEYS)))
    events = list(world_events(world, ["trips"], window, range(world.phones)))
    ours = _cpu(lambda: asked(task, events, window, catalog()))
    unit = "CPU µs per proxy device"
    return Figure(
        "lab.asked", ours / phones * 1e6, floor / phones * 1e6, unit, "the world's own exact sums"
    )


def _fitting(devices: int) -> Figure:
    proxy = travellers(regions=devices // 10_000, per_region=10_000, seed=1)
    scaled, weights = Scaled.of(proxy, ("activity",)), Weights.of(proxy)
    found = []

    def fit() -> None:
        found.append(fitted("rotated", scaled, weights, epsilon=2.0, rotate_by=KEYS[1:]))

    ours = _cpu(fit)
    arithmetic = build_for(found[0], proxy.cells, proxy.metrics)
    peer = _cpu(lambda: bounded_sums(arithmetic, proxy, max_rows=64))
    return Figure(f"lab.rotated fit on {devices:,}", ours, peer, "CPU s", "bounding them once")


def _error(devices: int) -> Figure:
    names = ["group_scaling_grid", "rotated"]
    [found] = compare({"devices": devices, "mechanisms": names})["results"]
    scaling, rotated = (found["mechanisms"][name]["mean"] for name in names)
    name = f"lab.rotated error, ε = 2, fitted on {devices:,}"
    return Figure(name, rotated, scaling, "weighted relative error", "Group Scaling, C by grid")


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds: other processes on the machine do not count."""
    began = time.process_time()
    work()
    return time.process_time() - began
