"""Reach: devices that contributed, as a share of devices with the feature active.

Computed without knowing any device. A device contributes at most once to each window of a task, so
the contributions to a window are devices; and an install reports once that it is active. Both are
counted where the window is released, and kept coarse: the exact number is nowhere afterwards.

It errs on the low side. An install that is gone is still counted as active, and one that was
installed again is counted twice.
"""

from dataclasses import dataclass

import msgspec
from django.db.models import Sum

from aggregation.protocol.client_task import ClientTask
from portal.collection.coarse import SMALLEST, coarse, coarse_number
from portal.collection.models import ActiveDevices, Reach
from portal.tasks.models import EVERYONE, TaskWindow


def note_reach(*, window: TaskWindow, contributed: int) -> None:
    """Beside a window's release: how many are in its sum, of how many that could be."""
    Reach.objects.create(
        window=window,
        contributed=coarse_number(contributed),
        active=coarse_number(_active(window)),
    )


def _active(window: TaskWindow) -> int:
    task = msgspec.json.decode(window.revision.client_task_json, type=ClientTask)
    rows = ActiveDevices.objects.all()
    if EVERYONE not in task.populations:
        rows = rows.filter(population__name__in=task.populations)
    return rows.aggregate(sum=Sum("count"))["sum"] or 0


@dataclass(frozen=True)
class WindowReach:
    """One released window. Numbers are coarse, and 0 stands for everything below 1000."""

    task: str
    window: str
    label: str
    unit: str
    contributed: int
    active: int

    @property
    def percent(self) -> int | None:
        """About: both numbers have two digits. Nothing if too few devices are active to say."""
        if not self.active:
            return None
        return round(100 * (self.contributed or SMALLEST) / self.active)

    @property
    def contributed_words(self) -> str:
        return coarse(self.contributed)

    @property
    def active_words(self) -> str:
        return coarse(self.active)

    @property
    def words(self) -> str:
        if self.percent is None:
            return "not known"
        return f"about {self.percent} %" if self.contributed else f"< {self.percent} %"


def latest_reach(count: int) -> tuple[WindowReach, ...]:
    """Of the windows that ended last."""
    rows = Reach.objects.select_related("window__task").order_by("-window__end", "window__task")
    return tuple(
        WindowReach(
            task=row.window.task.name,
            window=row.window.window,
            label=row.window.as_window().label,
            unit=row.window.unit,
            contributed=row.contributed,
            active=row.active,
        )
        for row in rows[:count]
    )
