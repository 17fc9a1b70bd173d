"""Releases as pages: the list, one release in words and charts, its map, table, card and checks."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.releases import selectors
from portal.releases.browsing.addressing import at_its_window
from portal.releases.browsing.answering import answer
from portal.releases.browsing.choosing import LAYOUTS, MEASURES, SORTS, TOPS, View, field_name
from portal.releases.browsing.headline import headline, of_places
from portal.releases.browsing.history import Viewer, latest, strip, tables_before
from portal.releases.browsing.keeping import kept
from portal.releases.browsing.mapping import COLOURS, Map, MapView, map_of, ordered
from portal.releases.browsing.places_shown import places_shown
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.taking_part import took_part
from portal.releases.finding import find_release, find_whole_release
from portal.releases.following import is_following
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.releases.signing import read_card
from portal.releases.tabling import table_of
from portal.releases.verification import checks_of
from portal.releases.visiting import guests_welcome
from portal.streams import selectors as streams

# Keys, beside places, that the form of a chart has at first sight.
_FIRST_KEYS = 3


@require_safe
@guests_welcome
def releases(request: HttpRequest) -> HttpResponse:
    rows = selectors.releases_for(request.user)
    task = request.GET.get("task", "")
    if task:
        rows = rows.filter(window__task__name=task)
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    context: dict[str, Any] = {"section": "releases", "page": page, "task": task}
    if task and page.object_list and isinstance(request.user, Person):
        context["following"] = is_following(person=request.user, task=task)
    return render(request, "releases/releases.html", context)


@require_safe
@guests_welcome
def latest_release(request: HttpRequest, task: str) -> HttpResponseBase:
    """The newest one of a task, at an address that stays."""
    found = latest(request.user, task)
    if found is None:
        raise Http404(f"There is no release of {task} yet.")
    return redirect("release", task, found.window.window)


@require_safe
@guests_welcome
@at_its_window
def release(request: HttpRequest, task: str, window: str) -> HttpResponseBase:
    """In words, and as a histogram of whatever is asked for."""
    context, tables = opened(request, find_release(request.user, task, window), "release")
    if tables is not None:
        earlier = tables_before(request.user, tables.shown.release)
        context["took_part"] = sentence_on_who_took_part(request.user, tables, earlier)
        try:
            context |= _answered(request, tables, earlier)
            if not request.headers.get("HX-Request"):  # a form asks for the chart alone
                context |= _in_words(tables, earlier)
        except Problem as problem:
            context["problem"] = problem
    template = _part(request, "releases/release.html", "releases/_chart_part.html")
    return render(request, template, context)


@require_safe
@guests_welcome
@at_its_window
def release_map(request: HttpRequest, task: str, window: str) -> HttpResponseBase:
    found = find_release(request.user, task, window)
    context, tables = opened(request, found, "release_map")
    if tables is not None:
        try:
            drawn, problem = _mapped(request, tables, tables_before(request.user, found))
            context |= {
                "view": drawn.view,
                "map": drawn,
                "spots": ordered(drawn.places or drawn.countries),
                "problem": problem,
            }
            context |= map_choices(tables, drawn.view)
        except Problem as problem:
            context["problem"] = problem
    return render(request, _part(request, "releases/map.html", "releases/_map_part.html"), context)


@require_safe
@guests_welcome
@at_its_window
def release_table(request: HttpRequest, task: str, window: str) -> HttpResponseBase:
    context, tables = opened(request, find_release(request.user, task, window), "release_table")
    if tables is not None:
        try:
            context |= table_of(request.GET, tables)
        except Problem as problem:
            context["problem"] = problem
    return render(request, "releases/table.html", context)


@require_safe
@guests_welcome
@at_its_window
def release_card(request: HttpRequest, task: str, window: str) -> HttpResponse:
    """The guarantee card by itself, fit for paper."""
    found = find_release(request.user, task, window)
    context = {"section": "releases", "release": found, "card": read_card(found.card)}
    return render(request, "releases/card.html", context)


@require_safe
@guests_welcome
@at_its_window
def release_check(request: HttpRequest, task: str, window: str) -> HttpResponse:
    found = find_whole_release(request.user, task, window)
    checks = checks_of(found)
    context = {
        "section": "releases",
        "release": found,
        "checks": checks,
        "failed": sum(not check.holds for check in checks),
    }
    return render(request, "releases/check.html", context)


def _mapped(
    request: HttpRequest, tables: Tables, earlier: Tables | None
) -> tuple[Map, Problem | None]:
    """What is asked for; or the map as it is at first, and what was wrong with the address."""
    try:
        return map_of(MapView.parse(request.GET, tables), tables, earlier), None
    except Problem as problem:
        first = map_of(MapView.first(tables), tables, earlier)
        return first, Problem(str(problem), hint="The default map is shown instead.")


def opened(
    request: HttpRequest, release: Release, tab: str
) -> tuple[dict[str, Any], Tables | None]:
    """What all pages of a release have, and its tables once they are made."""
    context: dict[str, Any] = {
        "section": "releases",
        "release": release,
        "card": read_card(release.card),
        "tab": tab,
        "tiles": strip(request.user, release, tab),
    }
    if not hasattr(release, "rendering"):
        return context, None
    tables = Tables(Shown(release))
    context |= {"shown": tables.shown, "tables": tables, "kept": kept(tab, request.GET, tables)}
    return context, tables


def _answered(request: HttpRequest, tables: Tables, earlier: Tables | None) -> dict[str, Any]:
    found = answer(request.GET, tables, earlier)
    return {
        "answer": found,
        "view": found.chart.view,
        "chart": found.chart,
        "problem": found.problem,
        **chart_choices(tables, found.chart.view),
    }


def chart_choices(tables: Tables, view: View) -> dict[str, Any]:
    """What the form of a chart offers: the few that matter, and all others."""
    places = (tables.region_key, tables.country_key)
    held = _held(tables, view.where, but=places)
    usual = View(metric=view.metric, by=view.by)
    further = ("second", "sort", "top", "layout", "log")
    return {
        "tops": TOPS,
        "layouts": LAYOUTS,
        "sorts": SORTS,
        "measures": MEASURES,
        "held": held[:_FIRST_KEYS],
        "held_further": held[_FIRST_KEYS:] + _held(tables, view.where, only=places),
        "is_further": any(getattr(view, name) != getattr(usual, name) for name in further)
        or any(key not in [one["key"] for one in held[:_FIRST_KEYS]] for key in view.where),
    }


def map_choices(tables: Tables, view: MapView) -> dict[str, Any]:
    places = (tables.region_key, tables.country_key)
    held = _held(tables, view.where, but=places)
    return {"colours": COLOURS, "held": held, "countries": _countries()}


def _held(
    tables: Tables, where: Any, *, but: tuple[str, ...] = (), only: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The keys that can be held at a value: chosen from a list, or typed where it would be long."""
    found = []
    for key in tables.keys:
        if key in but or (only and key not in only):
            continue
        value = where.get(key, "")
        name = tables.name_of(key)
        found.append(
            {
                "key": key,
                "name": field_name(key),
                "value": value,
                "written": name(value) if value else "",
                "options": _options(tables, key),
                "is_place": key == tables.region_key,
            }
        )
    return found


def _options(tables: Tables, key: str) -> list[tuple[str, str]]:
    if key == tables.country_key:
        return [(code, name) for name, code in _countries()]
    return [] if key == tables.region_key else tables.options(key, tables.domain(key))


def _countries() -> list[tuple[str, str]]:
    """By name; none where no list of places is installed, and they are typed."""
    try:
        return sorted((one.name, one.code) for one in streams.countries())
    except Problem:
        return []


def _in_words(tables: Tables, earlier: Tables | None) -> dict[str, Any]:
    """Sums over everything, or why there are none; and which places have numbers, unless a table
    is not as it was signed for."""
    found = [headline(metric, tables, earlier) for metric in tables.metrics]
    shown = [one for one in found if one.is_shown]
    try:
        places = places_shown(tables)
    except Problem as problem:
        return {"headlines": shown, "problem": problem}
    if shown:
        return {"headlines": shown, "places_shown": places}
    is_empty = not places and not of_places(tables, earlier, count=1)
    return {"no_total": found[0].sentence, "nothing": is_empty, "places_shown": places}


def sentence_on_who_took_part(viewer: Viewer, tables: Tables, earlier: Tables | None) -> str:
    return took_part(viewer, tables.shown.release, earlier.shown.release if earlier else None)


def _part(request: HttpRequest, whole: str, part: str) -> str:
    """What changes by itself when a form of the page does."""
    return part if request.headers.get("HX-Request") else whole
