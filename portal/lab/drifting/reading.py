"""Which releases there are to hold against a calibration, and their numbers by slice."""

from dataclasses import dataclass
from math import sqrt

from django.db.models import OuterRef, Subquery

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
    """Of every task that goes on and has a release, by its name."""
    its_own = Release.objects.filter(window__task=OuterRef("pk"))
    newest = Subquery(its_own.order_by("-released_at", "-pk").values("pk")[:1])
    tasks = Task.objects.exclude(state=Task.State.ENDED).annotate(newest=newest)
    rows = Release.objects.filter(pk__in=tasks.values("newest")).defer("noised")
    found = rows.select_related("window__task", "window__revision", "rendering")
    return [drift_of(release) for release in found.order_by("window__task__name")]


def drift_of(release: Release) -> Drift:
    provenance = provenance_of(release.window.revision)
    if provenance is None:
        return Drift(release, None, problem="Its parameters were typed by hand.")
    proxy = provenance.facts.get("per_event")
    if not proxy:
        return Drift(release, provenance, problem="Its calibration has no sizes to compare with.")
    try:
        numbers = _numbers(Tables(opened(release)), proxy)
    except Problem as problem:
        return Drift(release, provenance, problem=problem.message)
    return Drift(release, provenance, tuple(held_against(proxy, numbers)))


def _numbers(tables: Tables, proxy: PerEvent) -> Numbers:
    """By slice, over the cells that are shown, the largest first if there are very many: a sum over
    all cells, most of them empty, drowns in their noise. Their intervals are those of the noise
    alone: what the clip took is taken from the proxy's numbers, too."""
    columns = _columns(tables, [name.split("/") for name in proxy])
    metrics = [name for name in next(iter(proxy.values())) if name in tables.metrics]
    if not metrics:
        return {}
    layout, rows = tables.rows(tables.own_keys, metrics[0], shown_only=True, sort=metrics[0])
    places = [layout.keys.index(column) for column in columns]
    sums: dict[tuple[str, str], tuple[float, float]] = {}
    for row in rows:
        name = "/".join(str(row.keys[place]) for place in places) or "all"
        for metric in metrics:
            number = pick(layout, row, metric)
            if number.value is not None and number.noise is not None:
                total, square = sums.get((name, metric), (0.0, 0.0))
                sums[name, metric] = (total + number.value, square + number.noise**2)
    return {key: Released(total, sqrt(square)) for key, (total, square) in sums.items()}


def _columns(tables: Tables, slices: list[list[str]]) -> list[str]:
    """The keys that slices are named by: those whose values their parts are."""
    if slices == [["all"]]:
        return []
    if len({len(parts) for parts in slices}) != 1:
        raise Problem("The slices of its calibration are not all named by the same keys.")
    columns = []
    for parts in zip(*slices, strict=True):
        keys = (k for k in tables.own_keys if k != tables.region_key and k not in columns)
        fitting = next((k for k in keys if set(parts) <= set(tables.domain(k))), None)
        if fitting is None:
            raise Problem("Its calibration is of slices that the release does not have.")
        columns.append(fitting)
    return columns
