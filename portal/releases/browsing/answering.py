"""A release as it is asked for: a chart, its answer in a sentence, and what was not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import QueryDict

from aggregation.errors import Problem
from aggregation.release.emissions import COLUMN as EMISSIONS
from portal.releases import reasons
from portal.releases.browsing.best import asked_chart, forgiven
from portal.releases.browsing.charting import Chart
from portal.releases.browsing.choosing import View
from portal.releases.browsing.covering import Offer, offer
from portal.releases.browsing.keeping import CHART, TABLE, kept
from portal.releases.browsing.leading import Caveat, Leading, caveat, leading
from portal.releases.browsing.tables import Tables

_REACHES = {
    "share": "the ± of a share follows from those of its part and of its whole",
    "ratio": "the ± of a ratio follows from those of its two sums",
    "clipped": "the ± here can be wider, as it also holds what clipping may have moved",
    "noise": "the ± here is that of the noise",
}


@dataclass(frozen=True)
class Answer:
    chart: Chart
    # What was wrong with the address.
    problem: Problem | None
    leading: Leading | None
    caveat: Caveat | None
    # A choice that shows more.
    offer: Offer | None
    # Which numbers are shown, and how wide their intervals are.
    rule: str
    # Of the table with just these rows.
    table_query: str

    @property
    def all_query(self) -> str:
        """The same with every value of the first key."""
        view = self.chart.view
        where = {key: value for key, value in view.where.items() if key != view.by}
        return view.but(where=where).query


def answer(asked: Mapping[str, str], tables: Tables, earlier: Tables | None) -> Answer:
    """What was not understood is told and left out; all else stays as it was chosen."""
    chart, problem = _chart(asked, tables)
    view = chart.view
    return Answer(
        chart=chart,
        problem=problem,
        leading=leading(chart, tables, earlier),
        caveat=caveat(view, tables),
        offer=offer(chart.covered),
        rule=_rule(view, tables),
        table_query=kept(CHART, QueryDict(view.query), tables).get(TABLE, ""),
    )


def _chart(asked: Mapping[str, str], tables: Tables) -> tuple[Chart, Problem | None]:
    try:
        return asked_chart(asked, tables), None
    except Problem as problem:
        understood, wrong = forgiven(asked, tables)
        try:
            return asked_chart(understood, tables), _told(wrong or (problem,), understood)
        except Problem:
            return asked_chart({}, tables), _told((problem,), {})


def _told(wrong: tuple[Problem, ...], understood: Mapping[str, str]) -> Problem:
    left = "The chart leaves it out." if understood else "The default chart is shown instead."
    if len(wrong) > 1 and understood:
        left = "The chart leaves them out."
    return Problem(" ".join(map(str, wrong)), hint=left)


def _rule(view: View, tables: Tables) -> str:
    config = tables.shown.config
    reach = "noise" if config.clip_uncertainty is None else "clipped"
    if tables.is_ratio(view.metric):
        reach = "ratio"
    elif view.measure == "share":
        reach = "share"
    metrics = [EMISSIONS] if view.metric == EMISSIONS else config.metrics
    below = tables.denominator(view.metric)
    return reasons.beside(config.suppression, metrics, denominator=below, reach=_REACHES[reach])
