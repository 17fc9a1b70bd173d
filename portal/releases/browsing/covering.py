"""How many places a chart ranks, why it does not rank others, and which choice would rank more.

A sum over a key that is left free carries the noise of each of its values. A place can therefore
have a number within its borders and none in all directions: that is told as such, and not as if
nobody had taken part there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregation.release.emissions import COLUMN as EMISSIONS
from portal.releases.browsing.choosing import View
from portal.releases.browsing.places_shown import places_shown
from portal.releases.browsing.ranking import Ranking
from portal.releases.browsing.tables import Tables
from portal.releases.reasons import listed, why_not


@dataclass(frozen=True)
class Covered:
    """A view, and what its chart is made of."""

    view: View
    tables: Tables
    keys: Sequence[str]
    held: Mapping[str, Sequence[str]]
    # Rows that have a number.
    known: int
    ranked: Ranking | None

    @property
    def is_of_places(self) -> bool:
        return bool(self.view.by) and self.view.by in self.places

    @property
    def summed(self) -> list[str]:
        """Keys that its numbers are sums over, but for places."""
        return [key for key in self.tables.own_keys if key not in (*self.keys, *self.places)]

    @property
    def places(self) -> tuple[str, str]:
        return (self.tables.region_key, self.tables.country_key)


@dataclass(frozen=True)
class Offer:
    query: str
    sentence: str


def sentence(covered: Covered) -> str:
    """Where places are ranked, those without a number are no part of it."""
    if not covered.is_of_places:
        return ""
    tables, view = covered.tables, covered.view
    among = tables.count(covered.keys, view.metric, where=covered.held, shown_only=False)
    if covered.known >= among:
        return ""
    why = _why(covered)
    if view.by in view.where:
        return f"{tables.name_of(view.by)(view.where[view.by])} has no number here, as {why}."
    what = "countries" if view.by == tables.country_key else "places"
    known, of_all = covered.known, _with_any_number(covered)
    if known == of_all == 1:
        return f"This is the only one with any number; others have none, as {why}."
    if known and known == of_all and view.measure != "person":
        return f"All {known:,} {what} with any number are ranked here; others have none, as {why}."
    of = f"the {of_all:,} {what} with any number" if of_all else f"{among:,} {what}"
    return f"{known:,} of {of} are ranked here. The others are not, as {why}."


def _with_any_number(covered: Covered) -> int:
    """How many a page lists as such, unless something is said of where they are: of fifty thousand
    places most have none whatever is asked. Emissions may be known of any; 0 where that is so."""
    tables, view = covered.tables, covered.view
    if view.metric == EMISSIONS or {*covered.held} & {*covered.places}:
        return 0
    shown = places_shown(tables)
    are_countries = view.by == tables.country_key
    return shown.count if shown and shown.are_countries == are_countries else 0


def offer(covered: Covered) -> Offer | None:
    """The value of a key, summed over so far, that most places have a number for; nothing where
    that is no more than there are. Most emissions are 0 for certain: there is no use in those. A
    number is not yet a share, and with one more key held a share would be of something else."""
    tables, view = covered.tables, covered.view
    if not covered.is_of_places or view.second or view.metric == EMISSIONS:
        return None
    if view.measure == "share":
        return None
    found = [
        (count, key, value)
        for key in covered.summed
        for value, count in _first(covered, key)
        if count > covered.known
    ]
    if not found:
        return None
    count, key, value = max(found, key=lambda one: one[0])
    name = f"{key.replace('_', ' ')}: {tables.name_of(key)(value)}"
    query = view.but(where={**view.where, key: value}).query
    have = "has" if count == 1 else "have"
    return Offer(query, f"With {name} alone, {count:,} {have} a number")


def _first(covered: Covered, key: str) -> list[tuple[str, int]]:
    keys = [*covered.keys, key]
    return covered.tables.counts(keys, covered.view.metric, of=key, where=covered.held)[:1]


def _why(covered: Covered) -> str:
    tables, view, ranked = covered.tables, covered.view, covered.ranked
    config = tables.shown.config
    metrics = [EMISSIONS] if view.metric == EMISSIONS else config.metrics
    below = tables.denominator(view.metric)
    why = why_not(config.suppression, metrics, denominator=below, summed=covered.summed)
    if ranked and ranked.among:
        named = listed([tables.name_of(ranked.key)(one) for one in ranked.among])
        why = f"not all of {named} are shown there: {why}"
    if ranked and covered.known < tables.count(covered.keys, view.metric, where=covered.held):
        why += ". Where there is a number but no share, noise drowns what it would be a share of"
    is_one = view.by in view.where
    if view.measure == "person" and view.by == tables.region_key and not is_one:
        why += ". Places whose number of inhabitants is not known are left out, too"
    return why
