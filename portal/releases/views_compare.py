"""Comparing two windows, or two places, of one task: row by row, with what is more than noise."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.releases.browsing.choosing import one_of, region_of, usual_key
from portal.releases.browsing.comparing import Side, compare
from portal.releases.browsing.history import before, latest, rendered, tasks_with_files
from portal.releases.browsing.placing import Subject
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.taking_part import took_part
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.releases.visiting import guests_welcome
from portal.streams import selectors as streams


@require_safe
@guests_welcome
def compare_releases(request: HttpRequest) -> HttpResponseBase:
    tasks = tasks_with_files(request.user)
    context: dict[str, Any] = {"section": "releases", "tasks": tasks}
    if tasks:
        try:
            context |= _compared(request, tasks)
        except Problem as problem:
            context["problem"] = problem
    return render(request, "releases/compare.html", context)


def _compared(request: HttpRequest, tasks: list[str]) -> dict[str, Any]:
    task = one_of(request.GET.get("task", ""), tasks, "task", tasks[0])
    rows = rendered(request.user).filter(window__task__name=task).order_by("-window__start")
    windows = {one.window.window: one for one in rows[:104]}
    first = _release(request, "window", windows, latest(request.user, task))
    usual = before(request.user, first) or first
    second = _release(request, "with_window", windows, usual)
    if request.GET.get("with_place") and not request.GET.get("with_window"):
        second = first
    now, then = Tables(Shown(first)), Tables(Shown(second))
    metric = one_of(request.GET.get("metric", ""), now.metrics, "metric", now.metrics[0])
    if metric not in then.metrics:
        raise Problem(f"The earlier release has no {metric}: its task was another then.")
    places = [_subject(request.GET.get(name, "")) for name in ("place", "with_place")]
    if places[0] and not places[1]:
        places[1] = places[0]
    by = usual_key(now)
    sides = [_side(tables, one) for tables, one in zip((now, then), places, strict=True)]
    shares = request.GET.get("shares") == "1"
    found = compare(*sides, metric=metric, by=by, values=now.domain(by), shares=shares)
    title = f"{sides[0].label} and {sides[1].label}"
    return {
        "task": task,
        "windows": [(key, one.window.as_window().label) for key, one in windows.items()],
        "first": first,
        "second": second,
        "places": places,
        "metrics": now.metrics,
        "metric": metric,
        "has_places": bool(now.region_key or now.country_key),
        "shares": shares,
        "found": found,
        "title": title,
        "took_part": _who(request, first, second),
    }


def _who(request: HttpRequest, first: Release, second: Release) -> str:
    if first == second:
        return ""
    than = f"in {second.window.as_window().label}"
    return took_part(request.user, first, second, than=than)


def _release(
    request: HttpRequest, name: str, windows: dict[str, Release], usual: Release | None
) -> Release:
    asked = request.GET.get(name, "")
    if asked:
        return windows[one_of(asked, windows, "window", "")]
    if usual is None:
        raise Problem("There is no release to compare yet.")
    return usual


def _subject(text: str) -> Subject | None:
    """A country by its code or whole name, else the place that is called so."""
    text = text.strip()
    if not text:
        return None
    for one in streams.countries():
        if text.upper() == one.code or text.lower() == one.name.lower():
            return Subject.of_country(one.code)
    return Subject.of_region(int(region_of(text)))


def _side(tables: Tables, subject: Subject | None) -> Side:
    label = tables.shown.release.window.as_window().label
    if subject is None:
        return Side(label, tables, {})
    key = subject.key(tables)
    if not key:
        raise Problem(f"This task has no row for {subject.name}.")
    return Side(f"{subject.name}, {label}", tables, {key: subject.value})
