"""Emissions: by activity and place, the factors with their sources, and what-if scenarios."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from aggregation.errors import Problem
from aggregation.release.emission_factors import factor_table
from aggregation.release.emissions import COLUMN
from portal.releases.browsing.choosing import one_of
from portal.releases.browsing.emitting import (
    ELECTRIC,
    OCCUPANCY,
    Emissions,
    parse_scenario,
    tasks_with_emissions,
)
from portal.releases.browsing.headline import headline
from portal.releases.browsing.history import latest, strip, tables_before
from portal.releases.browsing.tables import Tables
from portal.releases.finding import find_release
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
    task = one_of(request.GET.get("task", ""), tasks, "task with emissions", tasks[0])
    window = request.GET.get("window", "")
    release = find_release(request.user, task, window) if window else latest(request.user, task)
    if release is None or not hasattr(release, "rendering"):
        raise Problem("The tables of this release are being made.", hint="Try again in a moment.")
    tables = Tables(Shown(release))
    names = {one.code: one.name for one in streams.countries()}
    asked = request.GET.get("country", "").upper() if tables.country_key else ""
    country = one_of(asked, names, "country", "")
    found = Emissions(release, tables, country)
    scenario = parse_scenario(request.GET)
    context: dict[str, Any] = {
        "task": task,
        "release": release,
        "found": found,
        "country": country,
        "country_name": names.get(country, ""),
        "countries": _with_numbers(tables, names),
        "tiles": strip(request.user, release),
        "factors": found.factors,
        "version": factor_table(),
        "scenario": scenario,
        "cars": found.cars,
        "electric": ELECTRIC,
        "occupancy": OCCUPANCY,
        "headline": headline(
            COLUMN,
            tables,
            tables_before(request.user, release),
            where=found.where,
            place=names.get(country, ""),
        ),
    }
    if context["headline"].is_shown:
        released, other = found.total(scenario)
        context |= {"released": released, "other": other, "scenario_svg": found.svg(scenario)}
    return context


def _with_numbers(tables: Tables, names: dict[str, str]) -> list[tuple[str, str]]:
    """Countries that have emissions to show, by name."""
    key = tables.country_key
    if not key:
        return []
    _, rows = tables.rows([key], COLUMN, shown_only=True)
    codes = [str(row.keys[0]) for row in rows]
    return sorted(((code, names.get(code, code)) for code in codes), key=lambda pair: pair[1])
