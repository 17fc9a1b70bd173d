"""What to show first: something that is there to be seen.

Over many places, sums over all activities may drown in the noise of cells where nobody is, while
single activities of single cities stand out. Whoever opens a release should meet those.
"""

from __future__ import annotations

from collections.abc import Mapping

from aggregation.errors import Problem
from portal.releases.browsing.charting import Chart, chart_of
from portal.releases.browsing.choosing import View, field_name, usual_key, usual_measure
from portal.releases.browsing.tables import Tables


def first_view(tables: Tables, metric: str = "") -> View:
    """The usual histogram; where nothing of it is shown, places with the other key held."""
    metric = metric or tables.metrics[0]
    usual = View(metric=metric, by=usual_key(tables))
    place = tables.region_key or tables.country_key
    if not place or not usual.by or not chart_of(usual, tables).is_empty:
        return usual
    if tables.count([place], metric):
        return View(metric=metric, by=place)
    held = best_values(tables, metric, [place, usual.by], usual.by)
    if usual.by == place or not held:
        return usual
    where = {usual.by: held[0]}
    return View(
        metric=metric, by=place, where=where, measure=usual_measure(metric, place, where, tables)
    )


def asked_chart(asked: Mapping[str, str], tables: Tables) -> Chart:
    """What an address asks for, or the first view. How it is measured is usually a share where
    places are compared; where no share is known, it is the amount."""
    view = View.parse(asked, tables) if asked else first_view(tables)
    chart = chart_of(view, tables)
    if chart.is_empty and view.measure != "amount" and not asked.get("measure"):
        return chart_of(view.but(measure="amount"), tables)
    return chart


def forgiven(
    asked: Mapping[str, str], tables: Tables
) -> tuple[dict[str, str], tuple[Problem, ...]]:
    """What of an address is understood, and what is wrong with the rest: one mistake takes nothing
    else with it."""
    kept: dict[str, str] = {}
    wrong: list[Problem] = []
    for name in _understood(tables):
        if name not in asked:
            continue
        try:
            View.parse({**kept, name: asked[name]}, tables)
        except Problem as problem:
            wrong.append(problem)
        else:
            kept[name] = asked[name]
    return kept, tuple(wrong)


def _understood(tables: Tables) -> list[str]:
    """Words of an address; those first that others depend on. No other is ever looked at."""
    keys = [field_name(key) for key in tables.keys]
    return ["metric", "by", *keys, "second", "measure", "sort", "top", "layout", "log"]


def best_values(tables: Tables, metric: str, keys: list[str], of: str) -> list[str]:
    """Values of a key that have rows to show in the table by these keys, most rows first."""
    if len(set(keys)) < len(keys):
        return []
    return tables.shown_by(keys, metric, of)
