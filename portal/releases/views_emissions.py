"""Emissions: by activity and place, the factors with their sources, and what-if scenarios."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from aggregation.release.emission_factors import factor_table
from aggregation.release.emissions import ACTIVITY, COLUMN
from aggregation.release.scenario import DRIVING, Scenario
from portal.releases.browsing.choosing import one_of, region_of
from portal.releases.browsing.emitting import (
    Emissions,
    latest_with_emissions,
    parse_scenario,
    tasks_with_emissions,
)
from portal.releases.browsing.headline import headline, of_places
from portal.releases.browsing.history import strip, tables_before
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
    subject = _subject(request, tables)
    found, scenario = Emissions(release, tables, subject), parse_scenario(request.GET)
    earlier = tables_before(request.user, release)
    name = subject.name if subject else ""
    said = [headline(COLUMN, tables, earlier, where=found.where, place=name)]
    if not said[0].is_shown and not subject:
        said += of_places(tables, earlier, COLUMN)
    outcome, cars = found.total(scenario), found.cars
    return {
        "task": release.window.task.name,
        "release": release,
        "found": found,
        "subject": subject,
        "countries": _with_numbers(tables),
        "has_places": bool(tables.region_key),
        "tiles": strip(request.user, release),
        "keep": _kept(request),
        "headlines": said,
        "factors": found.factors,
        "factor_version": factor_table().version,
        "scenario": scenario,
        "electric_share": cars.electric_share if scenario.electric is None else scenario.electric,
        "people": scenario.occupancy or cars.occupancy,
        "outcome": outcome,
        "scenario_figure": found.figure(scenario) if outcome else "",
    }


def _release(request: HttpRequest, tasks: list[str]) -> Release:
    """The one that is asked for; else the newest that has cars to show, or the newest."""
    asked = one_of(request.GET.get("task", ""), tasks, "task with emissions", "")
    window = request.GET.get("window", "")
    if window:
        return _readable(find_release(request.user, asked or tasks[0], window))
    newest = [latest_with_emissions(request.user, one) for one in ([asked] if asked else tasks)]
    found = [release for release in newest if release is not None]
    for release in found:
        if Emissions(release, Tables(Shown(release)), None).total(Scenario()):
            return release
    return _readable(found[0] if found else None)


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


def _kept(request: HttpRequest) -> str:
    """What stays as it is when another window is looked at."""
    asked = request.GET.copy()
    asked.pop("window", None)
    return asked.urlencode()


def _with_numbers(tables: Tables) -> list[tuple[str, str]]:
    """Countries that have emissions of cars to show, by name."""
    key = tables.country_key
    if not key:
        return []
    names = {one.code: one.name for one in streams.countries()}
    held = {ACTIVITY: [DRIVING]}
    layout, rows = tables.rows([key, ACTIVITY], COLUMN, where=held, shown_only=True)
    codes = [str(row.keys[layout.keys.index(key)]) for row in rows]
    return sorted(((code, names.get(code, code)) for code in codes), key=lambda pair: pair[1])
