"""What to show first: something that is there to be seen.

Over many places, sums over all activities may drown in the noise of cells where nobody is, while
single activities of single cities stand out. Whoever opens a release should meet those.
"""

from __future__ import annotations

from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View, usual_key
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
    return View(metric=metric, by=place, where={usual.by: held[0]})


def best_values(tables: Tables, metric: str, keys: list[str], of: str) -> list[str]:
    """Values of a key that have rows to show in the table by these keys, most rows first."""
    if len(set(keys)) < len(keys):
        return []
    return tables.shown_by(keys, metric, of)
