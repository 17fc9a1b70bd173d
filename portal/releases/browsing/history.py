"""The windows of a task side by side: which are released, and the one before."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.urls import reverse

from aggregation.protocol.windows import Unit
from portal.accounts.models import Person, Role
from portal.releases.browsing.tables import Tables
from portal.releases.dating import first_day
from portal.releases.models import Release
from portal.releases.selectors import releases_for
from portal.releases.showing import Shown
from portal.tasks.models import TaskWindow

Viewer = Person | AnonymousUser
# As many windows as a strip or a line over time shows.
MOST_WINDOWS = 16


@dataclass(frozen=True)
class Tile:
    """One window of the strip. Without an address, there is nothing to see of it yet."""

    id: str
    label: str
    # The first day of a week, which its label does not say; else empty.
    since: str
    state: str
    colour: str
    href: str
    is_this: bool
    # Why it was skipped, in a sentence.
    reason: str


def strip(viewer: Viewer, release: Release, page: str = "release") -> list[Tile]:
    """The windows up to now, the latest last, each with its address of this page; guests see only
    those they may open."""
    task = release.window.task
    mine = set(releases_for(viewer).filter(window__task=task).values_list("window_id", flat=True))
    rows = TaskWindow.objects.filter(task=task).exclude(state=TaskWindow.State.UPCOMING)
    if not (isinstance(viewer, Person) and viewer.has_role(*Role)):
        rows = rows.filter(pk__in=mine)
    this = release.window
    around = (this.end - this.start) * MOST_WINDOWS
    rows = rows.filter(start__gte=this.start - around, start__lte=this.start + around)
    found = list(rows.order_by("start"))
    first = max(0, min(found.index(this) - MOST_WINDOWS // 2, len(found) - MOST_WINDOWS))
    shown = found[first : first + MOST_WINDOWS]
    return [_tile(row, row.pk in mine, release, page) for row in shown]


def before(viewer: Viewer, release: Release) -> Release | None:
    """The release of the window just before, with its files; nothing if there is none."""
    rows = rendered(viewer).filter(window__task=release.window.task)
    return rows.filter(window__end=release.window.start).first()


def latest(viewer: Viewer, task: str) -> Release | None:
    """The newest release of a task, by its window."""
    rows = rendered(viewer).filter(window__task__name=task)
    return rows.order_by("-window__start", "-pk").first()


def rendered(viewer: Viewer) -> QuerySet[Release]:
    """Those whose files are there to be read."""
    return releases_for(viewer).filter(rendering__isnull=False)


def tasks_with_files(viewer: Viewer) -> list[str]:
    """Names of tasks with releases to read, the one released last first; nothing else is read."""
    rows = rendered(viewer).order_by("-window__start", "-pk")
    return list(dict.fromkeys(rows.values_list("window__task__name", flat=True)))


def tables_before(viewer: Viewer, release: Release) -> Tables | None:
    found = before(viewer, release)
    return Tables(Shown(found)) if found else None


def period(release: Release) -> str:
    """`in week 2026-W46`, for a sentence."""
    window = release.window.as_window()
    words = {
        Unit.HOUR: f"in the hour {window.label}",
        Unit.DAY: f"on {window.label}",
        Unit.WEEK: f"in week {window.label}",
        Unit.MONTH: f"in {window.label}",
    }
    return words[window.unit]


def earlier_period(release: Release) -> str:
    return f"the {Unit(release.window.unit).value} before"


def _tile(row: TaskWindow, is_mine: bool, release: Release, page: str) -> Tile:
    state = TaskWindow.State(row.state)
    href = reverse(page, args=[release.window.task.name, row.window]) if is_mine else ""
    window = row.as_window()
    return Tile(
        id=row.window,
        label=window.label,
        since=first_day(window),
        state=state.label,
        colour=state.colour,
        href=href,
        is_this=row == release.window,
        reason=row.reason,
    )
