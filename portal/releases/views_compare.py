"""Comparing two windows, or two places, of one task: row by row, with what is more than noise."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.releases.browsing.choosing import one_of, region_of, task_of, usual_key
from portal.releases.browsing.comparing import (
    Comparison,
    Side,
    best_comparison,
    places_to_compare,
)
from portal.releases.browsing.history import rendered, tasks_with_files
from portal.releases.browsing.placing import Subject
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.taking_part import took_part
from portal.releases.browsing.units import label
from portal.releases.models import Release
from portal.releases.reasons import listed
from portal.releases.showing import Shown
from portal.releases.visiting import guests_welcome
from portal.streams import selectors as streams

# As many windows as can be chosen from, and places that are named.
_MOST_WINDOWS, _MOST_OFFERS = 104, 8
_FIRST = "No window before this one can be chosen, so it is compared with the one after."


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
    """What is asked for; of what is not, something that shows."""
    asked = request.GET
    task = task_of(asked.get("task", ""), tasks, "to compare", _usual_task(request, tasks))
    rows = rendered(request.user).filter(window__task__name=task).order_by("-window__start")
    windows = {one.window.window: one for one in rows[:_MOST_WINDOWS]}
    first = _release(request, "window", windows, next(iter(windows.values()), None))
    second = _release(request, "with_window", windows, _beside(first, windows))
    if asked.get("with_place") and not asked.get("with_window"):
        second = first
    sides = _sides_of(
        request, Tables(Shown(first)), Tables(Shown(second)), is_only=len(windows) == 1
    )
    is_after = not asked.get("with_window") and second.window.start > first.window.start
    return {
        "task": task,
        "windows": [(key, one.window.as_window().label) for key, one in windows.items()],
        "first": first,
        "second": second,
        "took_part": _who(request, first, second),
        **sides,
        "notes": [_FIRST] * is_after + sides["notes"],
    }


def _sides_of(request: HttpRequest, now: Tables, then: Tables, *, is_only: bool) -> dict[str, Any]:
    """Both sides and what differs, or a note on why there are not two."""
    metrics, by, shares = _metrics(request, now, then), usual_key(now), _is_shares(request)
    best = _known(places_to_compare(now, then, metric=metrics[0], by=by))
    is_one_window = now.shown.release == then.shown.release
    places, notes = _asked_places(request), []

    def compared(places: list[Subject | None]) -> Comparison | None:
        if is_one_window and places[0] == places[1]:
            return None
        sides = [_side(tables, one) for tables, one in zip((now, then), places, strict=True)]
        return best_comparison(*sides, metrics=metrics, by=by, shares=shares)

    found = compared(places)
    if not any(places) and not (found and found.is_known):
        places = _best_places(best, is_one_window=is_one_window)
        notes = [_why_places(places, is_one_window=is_one_window, is_only=is_only)]
        found = compared(places) or found
    elif found is None and places[0]:
        notes = [_same(places[0])]
    return {
        "places": [_typed(one) for one in places],
        "has_places": bool(now.region_key or now.country_key),
        "metrics": now.labels,
        "metric": found.metric if found else metrics[0],
        "shares": shares,
        "found": found,
        "title": _title(found) if found else "",
        "notes": notes,
        "offers": _offers(best, places, is_one_window=is_one_window),
    }


def _asked_places(request: HttpRequest) -> list[Subject | None]:
    """One of each side; the second is the first if it is not named."""
    first, second = (_subject(request.GET.get(name, "")) for name in ("place", "with_place"))
    return [first, second or first]


def _title(found: Comparison) -> str:
    return f"{found.name}: {found.sides[0].label} and {found.sides[1].label}"


def _is_shares(request: HttpRequest) -> bool:
    return request.GET.get("shares") == "1"


def _usual_task(request: HttpRequest, tasks: list[str]) -> str:
    """The one released last that has two windows to compare."""
    names = rendered(request.user).values_list("window__task__name", flat=True)
    counts = Counter(names.order_by())
    return next((task for task in tasks if counts[task] > 1), tasks[0])


def _beside(release: Release, windows: dict[str, Release]) -> Release:
    """The next older one; of the oldest, the one after; of the only one, itself."""
    ordered = list(windows.values())
    at = ordered.index(release)
    return (ordered[at + 1 : at + 2] or ordered[max(at - 1, 0) :])[0]


def _metrics(request: HttpRequest, now: Tables, then: Tables) -> list[str]:
    """The one that is asked for, or all that can be compared."""
    asked = one_of(request.GET.get("metric", ""), now.metrics, "metric", "")
    if asked and asked not in then.metrics:
        name = label(asked, now.unit(asked))
        raise Problem(f"The other release has no {name}: its task was different then.")
    known = [one for one in now.metrics if one in then.metrics]
    known = [one for one in known if not (_is_shares(request) and now.is_ratio(one))]
    if not known and not asked:
        raise Problem("The two releases have no number in common.", hint="Choose another window.")
    return [asked] if asked else known


def _known(values: Sequence[str]) -> list[Subject]:
    """The first of them, but for those that the installed list of places does not have."""

    def found() -> Iterator[Subject]:
        for value in values:
            is_id = value.isascii() and value.isdigit()
            one = Subject.of_region(int(value)) if is_id else Subject.of_country(value)
            if one:
                yield one

    return list(islice(found(), _MOST_OFFERS))


def _best_places(best: list[Subject], *, is_one_window: bool) -> list[Subject | None]:
    """The place with most to show, in both windows; of one window, two places."""
    if len(best) < (2 if is_one_window else 1):
        return [None, None]
    return [best[0], best[1 if is_one_window else 0]]


def _why_places(places: list[Subject | None], *, is_one_window: bool, is_only: bool) -> str:
    """What is shown though nobody chose it, or what could be chosen."""
    names = listed([one.name for one in dict.fromkeys(places) if one])
    if places[0] is None:
        return "Nothing here can be compared. Choose another window, another task, or a place."
    if is_one_window:
        why = "There is one window so far" if is_only else "Both sides have the same window"
        return f"{why}, so this compares places in it: {names}."
    return (
        f"Noise drowns the sums over all places together, so this compares {names}, which has "
        "most to show. Any other place can be chosen."
    )


def _same(place: Subject) -> str:
    """Where a thing would be compared with itself."""
    return (
        f"Both sides are the same: {place.name} in one window. Choose another window, or another "
        "place to compare it with."
    )


def _offers(
    best: list[Subject], places: list[Subject | None], *, is_one_window: bool
) -> list[tuple[str, str | None, str | None]]:
    """Names of places with something to compare, each with the places of both sides: it stands
    on both, or in one window beside the first."""
    if not is_one_window:
        return [(one.name, one.value, None) for one in best]
    first = places[0].value if places[0] else None
    return [(one.name, first, one.value) for one in best if one not in places]


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


def _typed(subject: Subject | None) -> str:
    """What the form holds for it, and understands: a place with its country, since others may be
    called so; or its id, where a larger one in that country is."""
    if subject is None or not subject.region:
        return subject.name if subject else ""
    text = f"{subject.name}, {subject.country}"
    return text if region_of(text) == subject.region else subject.region


def _side(tables: Tables, subject: Subject | None) -> Side:
    label = tables.shown.release.window.as_window().label
    if subject is None:
        return Side(label, tables, {})
    key = subject.key(tables)
    if not key:
        raise Problem(f"This task has no row for {subject.name}.")
    return Side(f"{subject.name}, {label}", tables, {key: subject.value})
