"""A calibration on a file of proxy events, where the file is.

Nothing of the file but fitted numbers leaves this process: neither events nor devices are logged,
stored or sent, and the portal's database is not asked. The numbers are not noised, so the data must
be of a kind that needs no protection here; whoever runs it says which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from aggregation.calibration.asking import Events, asked
from aggregation.calibration.weighing import LEAST_DEVICES
from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.spec import Spec
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.fleet.event_file import read_events
from devices_sim.fleet.recording import Recording
from portal.lab.calibrating.fit import Data, compiled, fit_task, proxy_of
from portal.lab.calibrating.provenance import Fitted, Kind
from portal.lab.calibrating.spreading import spread
from portal.lab.running import Ask

Watch = Callable[[float], None]
# Bytes hashed at a time.
_CHUNK = 1 << 20
_HOUR = 3600.0


def calibrate_events(
    path: Path,
    spec: Spec,
    catalog: Catalog,
    *,
    kind: Kind,
    source: str,
    fit: str,
    epsilon: float | None = None,
    window_id: str | None = None,
    least_devices: int = LEAST_DEVICES,
    watch: Watch = lambda _: None,
    processes: int = 1,
) -> Fitted:
    if least_devices < 1:
        raise Problem(f"A cell that counts has at least one device, not {least_devices}.")
    task = compiled(spec, catalog)
    [stream] = _one_stream(task)
    recording = read_events(path, stream, catalog)
    unit = task.window_unit
    window = Window.parse(window_id, unit) if window_id else _fullest(recording, unit)

    def work(first: int, end: int) -> Rows:
        events = _events(recording, stream, window, range(first, end))
        return asked(task, events, window, catalog)

    asking = Ask(watch).part(0.0, 0.7)
    rows = spread(recording.devices, work, asking.watch, processes=processes)
    return fit_task(
        task,
        proxy_of(task, rows, catalog),
        None,
        name=fit,
        epsilon=float(task.epsilon) if epsilon is None else epsilon,
        least_devices=least_devices,
        data=Data(kind, source, _sha256(path), None, window.id),
        date=datetime.now(UTC),
        watch=Ask(watch).part(0.7, 1.0).watch,
    )


def _one_stream(task: ClientTask) -> list[str]:
    if len(task.reads) != 1:
        names = ", ".join(task.reads)
        raise Problem(f"The task reads {names}; a file of events holds one stream.")
    return list(task.reads)


def _fullest(recording: Recording, unit: Unit) -> Window:
    """The window with most events: the others would be other weeks of the same people."""
    hours, counts = np.unique(recording.times // _HOUR, return_counts=True)
    found: dict[Window, int] = {}
    for hour, count in zip(hours.tolist(), counts.tolist(), strict=True):
        window = Window.containing(datetime.fromtimestamp(hour * _HOUR, UTC), unit)
        found[window] = found.get(window, 0) + count
    return max(found, key=lambda window: (found[window], window.id))


def _events(recording: Recording, stream: str, window: Window, devices: range) -> Iterator[Events]:
    start, end = window.span
    for device in devices:
        yield {stream: recording.between(device, start, end, shift=0.0)}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
