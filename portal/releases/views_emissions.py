"""Emissions: by activity and place, the factors with their sources, and what-if scenarios."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from aggregation.release.emission_factors import factor_table
from aggregation.release.emissions import ACTIVITY, COLUMN
from aggregation.release.scenario import DRIVING, Scenario
from portal.releases.browsing.choosing import one_of, region_of, task_of
from portal.releases.browsing.emitting import (
    Emissions,
    latest_with_emissions,
    parse_scenario,
    tasks_with_emissions,
)
from portal.releases.browsing.headline import Headline, headline
from portal.releases.browsing.history import strip, tables_before, tasks_with_files
from portal.releases.browsing.leading import AMOUNTS, leading
from portal.releases.browsing.placing import Subject
from portal.releases.browsing.tables import Tables
from portal.releases.finding import find_release
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.releases.visiting import guests_welcome
from portal.streams import selectors as streams


@require_safe
@guests_welcome
def emissions(request: HttpRequest) -> HttpResponseBase:
    tasks = tasks_with_emissions(request.user)
    context: dict[str, Any] = {"section": "emissions", "tasks": tasks}
    if tasks:
        try:
            context |= _dashboard(request, tasks)
        except Problem as problem:
            context["problem"] = problem
    part = (
        "releases/_scenario.html"
        if request.headers.get("HX-Request")
        else "releases/emissions.html"
    )
    return render(request, part, context)


def _dashboard(request: HttpRequest, tasks: list[str]) -> dict[str, Any]:
    release = _release(request, tasks)
    tables = Tables(Shown(release))
    if COLUMN not in tables.metrics:
        raise _nothing_to_compute(release.window.task.name)
    subject = _subject(request, tables)
    found = Emissions(release, tables, subject)
    cars = found.cars
    scenario = parse_scenario(request.GET, cars)
    earlier = tables_before(request.user, release)
    headlines = _headlines(found, earlier)
    outcome = found.total(scenario)
    keep = _kept(release, subject, scenario)
    return {
        "task": release.window.task.name,
        "release": release,
        "found": found,
        "subject": subject,
        "countries": _countries(tables, subject),
        "has_places": bool(tables.region_key),
        "tiles": strip(request.user, release),
        "keep": urlencode(keep),
        "places": _places(found, keep | {"window": release.window.window}),
        "headlines": headlines,
        "is_whole_shown": headlines[-1].is_shown,
        "factors": found.factors,
        "factor_version": factor_table().version,
        "scenario": scenario,
        "electric_share": cars.electric_share if scenario.electric is None else scenario.electric,
        "is_share_known": cars.is_share_known,
        "people": scenario.occupancy or cars.occupancy,
        "outcome": outcome,
        "scenario_figure": found.figure(scenario) if outcome else "",
        "first": leading(found.by_place, tables, None) if found.by_place else None,
        "caveat": AMOUNTS,
        "country_name": _name(found.country),
    }


def _headlines(found: Emissions, earlier: Tables | None) -> list[Headline]:
    """All emissions; where noise drowns them, first what is shown of activities and places."""
    name = found.subject.name if found.subject else ""

    def said(where: Mapping[str, str], place: str = name) -> Headline:
        return headline(COLUMN, found.tables, earlier, where=where, place=place)

    whole = said(found.where)
    if whole.is_shown:
        return [whole]
    activities = [said(found.where | {ACTIVITY: one}) for one in found.shown_activities]
    places = [] if found.subject else [said(where, name) for name, where in found.of_places]
    return [*activities, *places, whole]


def _release(request: HttpRequest, tasks: list[str]) -> Release:
    """The one that is asked for; else the newest that has cars to show, or the newest."""
    asked, window = request.GET.get("task", ""), request.GET.get("window", "")
    if asked and asked not in tasks:
        if asked in tasks_with_files(request.user):
            raise _nothing_to_compute(asked)
        task_of(asked, tasks, "with emissions", "")
    if window:
        return _readable(_of_window(request, asked or tasks[0], window))
    newest = [latest_with_emissions(request.user, one) for one in ([asked] if asked else tasks)]
    found = [release for release in newest if release is not None]
    for release in found:
        if Emissions(release, Tables(Shown(release)), None).total(Scenario()):
            return release
    return _readable(found[0] if found else None)


def _of_window(request: HttpRequest, task: str, window: str) -> Release | None:
    """Another task may have other windows: then the newest that it has."""
    try:
        return find_release(request.user, task, window)
    except Http404:
        if request.GET.get("was", task) == task:
            raise
        return latest_with_emissions(request.user, task)


def _nothing_to_compute(task: str) -> Problem:
    return Problem(
        f"{task} has nothing to compute emissions from.",
        hint="They are kilometres times factors, for tasks that sum distance_km by activity and "
        "say post_processing: emissions.",
    )


def _readable(release: Release | None) -> Release:
    if release is None or not hasattr(release, "rendering"):
        raise Problem("The tables of this release are being made.", hint="Try again in a moment.")
    return release


def _subject(request: HttpRequest, tables: Tables) -> Subject | None:
    place, country = request.GET.get("place", "").strip(), request.GET.get("country", "").upper()
    if place and tables.region_key:
        return Subject.of_region(int(region_of(place)))
    if country and tables.country_key:
        names = {one.code for one in streams.countries()}
        return Subject.of_country(one_of(country, sorted(names), "country", ""))
    return None


def _kept(release: Release, subject: Subject | None, scenario: Scenario) -> dict[str, str]:
    """What stays as it is when another window is looked at."""
    kept = {"task": release.window.task.name}
    if subject:
        kept["place" if subject.region else "country"] = subject.value
    if scenario.electric is not None:
        kept["electric"] = f"{100 * scenario.electric:g}"
    if scenario.occupancy is not None:
        kept["occupancy"] = f"{scenario.occupancy:g}"
    return kept


def _places(found: Emissions, keep: dict[str, str]) -> list[tuple[str, str]]:
    """Those that the chart shows, by name, each with the address of its own emissions."""
    chart = found.by_place
    if chart is None:
        return []
    kind = "place" if chart.view.by == found.tables.region_key else "country"
    kept = {name: value for name, value in keep.items() if name not in ("place", "country")}
    return [(name, "?" + urlencode(kept | {kind: value})) for name, value in found.shown_places]


def _name(code: str) -> str:
    """Of a country; empty for all together."""
    subject = Subject.of_country(code)
    return subject.name if subject else code


def _countries(tables: Tables, subject: Subject | None) -> list[tuple[str, str]]:
    """Those that have emissions of cars to show, and the one that is asked for, by name."""
    key = tables.country_key
    if not key:
        return []
    names = {one.code: one.name for one in streams.countries()}
    held = {ACTIVITY: [DRIVING]}
    layout, rows = tables.rows([key, ACTIVITY], COLUMN, where=held, shown_only=True)
    codes = {str(row.keys[layout.keys.index(key)]) for row in rows}
    if subject and not subject.region:
        codes.add(subject.country)
    return sorted(((code, names.get(code, code)) for code in codes), key=lambda pair: pair[1])
