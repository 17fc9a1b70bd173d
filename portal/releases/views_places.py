"""Places: finding one, and what releases say of it and of its country."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View, field_name, held_values, one_of, task_of
from portal.releases.browsing.emitting import tasks_with_emissions
from portal.releases.browsing.history import latest, strip
from portal.releases.browsing.newest import with_numbers
from portal.releases.browsing.placing import Subject, Told, tasks_about, usual_metric
from portal.releases.browsing.tables import Tables
from portal.releases.browsing.units import label, spoken
from portal.releases.finding import find_release
from portal.releases.showing import Shown
from portal.releases.visiting import guests_welcome
from portal.streams import selectors as streams
from portal.streams.folding import matches, words
from portal.streams.geography import Place
from portal.streams.places import MOST_CHARACTERS, CountryFacts

Page = Callable[..., HttpResponseBase]
_A_PAGE, _SUGGESTED = 30, 8
_MISSING = Problem(
    "The list of places is not installed here.",
    hint="An operator does so with `manage.py install_streams`.",
)


def _told_if_missing(view: Page) -> Page:
    """Streams can be installed without the list of places: then there is a sentence."""

    @wraps(view)
    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Problem:
            context = {"section": "places", "problem": _MISSING}
            return render(request, "releases/places.html", context, status=503)

    return told


@require_safe
@guests_welcome
@_told_if_missing
def places(request: HttpRequest) -> HttpResponseBase:
    """Countries and places that a text matches; while one types, the first few."""
    # Each country is held against it, which for many marks on one letter takes a second.
    text = request.GET.get("q", "").strip()[:MOST_CHARACTERS]
    countries = _countries_matching(text)
    if request.headers.get("X-Suggest"):
        found = streams.places_matching(text, limit=_SUGGESTED) if text else []
        names = _country_names()
        first = {"q": text, "countries": countries[:3], "places": _with_countries(found, names)}
        return render(request, "releases/_place_suggestions.html", first)
    numbered = with_numbers(request.user)
    matches = streams.all_places_matching(text) if text else []
    page = Paginator(matches, _A_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "section": "places",
        "q": text,
        "page": page,
        "places": _with_countries((place for _, place in page.object_list), _country_names()),
        "countries": countries if text else _by_name(streams.countries()),
        "numbered": numbered,
    }
    return render(request, "releases/places.html", context)


@require_safe
@guests_welcome
@_told_if_missing
def place(request: HttpRequest, geonameid: int) -> HttpResponseBase:
    subject = Subject.of_region(geonameid)
    if subject is None:
        raise Http404(f"There is no place with the id {geonameid}.")
    context = {"place": streams.place(geonameid), "country_name": _name(subject.country)}
    return _about(request, subject, context)


@require_safe
@guests_welcome
@_told_if_missing
def country(request: HttpRequest, code: str) -> HttpResponseBase:
    subject = Subject.of_country(code.upper())
    if subject is None:
        raise Http404(f"There is no country with the code {code}.")
    if code != subject.country:
        return redirect("country", subject.country)
    context = {
        "numbered": with_numbers(request.user).within(subject.country),
        "largest": streams.places_matching("", country=subject.country, limit=12),
    }
    return _about(request, subject, context)


def _about(request: HttpRequest, subject: Subject, context: dict[str, Any]) -> HttpResponse:
    tasks = tasks_about(request.user, subject)
    context |= {"section": "places", "subject": subject, "tasks": tasks}
    if tasks:
        try:
            context |= _told(request, subject, tasks)
        except Problem as problem:
            context["problem"] = problem
    return render(request, "releases/place.html", context)


def _told(request: HttpRequest, subject: Subject, tasks: list[str]) -> dict[str, Any]:
    task = task_of(request.GET.get("task", ""), tasks, "about this place", tasks[0])
    window = request.GET.get("window", "")
    release = find_release(request.user, task, window) if window else latest(request.user, task)
    if release is None or not hasattr(release, "rendering"):
        raise Problem("The tables of this release are being made.", hint="Try again in a moment.")
    tables = Tables(Shown(release))
    held = held_values(request.GET, tables, but={tables.region_key, tables.country_key})
    metric = one_of(request.GET.get("metric", ""), tables.metrics, "metric", "")
    metric = metric or usual_metric(tables, subject, held)
    told = Told(subject, request.user, release, metric, held)
    keys = told.free_keys
    where = told.where
    chart = None
    if keys and not told.is_nothing:
        view = View(metric=metric, by=keys[0], second=keys[1] if len(keys) > 1 else "", where=where)
        chart = chart_of(view, tables)
    return {
        "task": task,
        "release": release,
        "tables": tables,
        "metric": metric,
        "spoken": spoken(metric, tables.unit(metric)),
        "metric_label": label(metric, tables.unit(metric)),
        "held": held,
        "held_names": [tables.name_of(key)(value) for key, value in held.items()],
        "choices": [
            (key, field_name(key), held.get(key, ""), tables.domain(key))
            for key in tables.keys
            if key not in (tables.region_key, tables.country_key)
        ],
        "told": told,
        "headlines": told.headlines(),
        "took_part": told.took_part,
        "chart": chart,
        "since": told.since(),
        "beside": told.beside_country(),
        "tiles": strip(request.user, release),
        "keep": urlencode(
            {"task": task, "metric": metric, **{field_name(k): v for k, v in held.items()}}
        ),
        "map_query": urlencode(_on_the_map(told)),
        "emissions": _emissions(request, subject, task, release.window.window),
    }


def _on_the_map(told: Told) -> dict[str, str]:
    """The same on the map of its country; where the sum is not shown, its largest part."""
    held, time = dict(told.held), told.over_time
    if time.is_apart:
        held[time.key] = next(iter(time.lines))
    named = {field_name(key): value for key, value in held.items()}
    return {"metric": told.metric, **named, "within": told.subject.country}


def _emissions(request: HttpRequest, subject: Subject, task: str, window: str) -> str:
    if task not in tasks_with_emissions(request.user):
        return ""
    which = f"place={subject.region}" if subject.region else f"country={subject.country}"
    return f"{reverse('emissions')}?task={task}&window={window}&{which}"


def _countries_matching(text: str) -> list[CountryFacts]:
    """Each word of the text begins a word of the country's name, or is its code. Names that begin
    with the text come first."""
    wanted = words(text)
    if not wanted:
        return []
    code = text.upper()
    found = [one for one in streams.countries() if one.code == code or matches(text, one.name)]
    begin = " ".join(wanted)
    return sorted(_by_name(found), key=lambda one: not " ".join(words(one.name)).startswith(begin))


def _by_name(countries: list[CountryFacts]) -> list[CountryFacts]:
    """As people look for them: without regard to accents and capitals."""
    return sorted(countries, key=lambda one: words(one.name))


def _with_countries(found: Iterable[Place], names: dict[str, str]) -> list[tuple[Place, str]]:
    return [(place, names.get(place.country, place.country)) for place in found]


def _country_names() -> dict[str, str]:
    return {one.code: one.name for one in streams.countries()}


def _name(code: str) -> str:
    return _country_names().get(code, code)
