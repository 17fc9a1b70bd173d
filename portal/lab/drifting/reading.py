"""Which releases there are to hold against a calibration, and their numbers by slice."""

from dataclasses import dataclass
from typing import Any

from aggregation.errors import Problem
from portal.lab.drifting.holding import (
    Held,
    Numbers,
    PerEvent,
    Released,
    Verdict,
    held_against,
    verdict_of,
)
from portal.releases.browsing.tables import Tables, pick
from portal.releases.models import Release
from portal.releases.opening import opened
from portal.tasks.models import Provenance, Task
from portal.tasks.provenance import provenance_of


@dataclass(frozen=True)
class Drift:
    """A task's newest release held against the calibration of its revision."""

    release: Release
    provenance: Provenance | None
    held: tuple[Held, ...] = ()
    # Why nothing can be said.
    problem: str = ""

    @property
    def verdict(self) -> Verdict:
        return verdict_of(list(self.held))

    @property
    def moved(self) -> list[Held]:
        return [one for one in self.held if one.verdict is Verdict.MOVED]

    @property
    def told(self) -> int:
        return sum(one.verdict is not Verdict.UNKNOWN for one in self.held)


def drifts() -> list[Drift]:
    """Of every task that has a release, by its name."""
    rows = Release.objects.select_related("window__task", "window__revision", "rendering")
    newest: dict[int, Release] = {}
    for release in rows.defer("noised").order_by("-released_at", "-pk"):
        newest.setdefault(release.window.task_id, release)
    live = (one for one in newest.values() if one.window.task.state != Task.State.ENDED)
    return [drift_of(release) for release in sorted(live, key=lambda r: r.window.task.name)]


def drift_of(release: Release) -> Drift:
    provenance = provenance_of(release.window.revision)
    if provenance is None:
        return Drift(release, None, problem="Its parameters were typed by hand.")
    proxy = provenance.facts.get("per_event")
    if not proxy:
        return Drift(release, provenance, problem="Its calibration tells no sizes to hold against.")
    try:
        numbers = _numbers(Tables(opened(release)), proxy)
    except Problem as problem:
        return Drift(release, provenance, problem=problem.message)
    return Drift(release, provenance, tuple(held_against(proxy, numbers)))


def _numbers(tables: Tables, proxy: PerEvent) -> Numbers:
    columns = _columns(tables, [name.split("/") for name in proxy])
    found: dict[tuple[str, str], Released] = {}
    for metric in next(iter(proxy.values())):
        if metric not in tables.metrics:
            continue
        layout, rows = tables.rows(columns, metric, shown_only=True)
        places = [layout.keys.index(column) for column in columns]
        for row in rows:
            name = "/".join(str(row.keys[place]) for place in places)
            number: Any = pick(layout, row, metric)
            if number.value is not None and number.half_width is not None:
                found[name, metric] = Released(number.value, number.half_width)
    return found


def _columns(tables: Tables, slices: list[list[str]]) -> list[str]:
    """The keys that slices are named by: those whose values their parts are."""
    if slices == [["all"]]:
        return []
    columns = []
    for parts in zip(*slices, strict=True):
        keys = (k for k in tables.own_keys if k != tables.region_key and k not in columns)
        fitting = next((k for k in keys if set(parts) <= set(tables.domain(k))), None)
        if fitting is None:
            raise Problem("Its calibration is of slices that the release does not have.")
        columns.append(fitting)
    return columns
