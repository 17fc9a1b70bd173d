"""What there is to see, for whoever comes in: the newest release in a sentence, and its places."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import duckdb
import pyarrow as pa

from aggregation.errors import Problem
from aggregation.release.tables import published_columns
from portal.releases.browsing.history import Viewer, latest, rendered, tasks_with_files
from portal.releases.browsing.places_shown import PlacesShown, places_shown, values_shown
from portal.releases.browsing.tables import Tables
from portal.releases.dating import dated
from portal.releases.models import Release
from portal.releases.reasons import listed, plain
from portal.releases.showing import Shown
from portal.streams import selectors as streams
from portal.streams.geography import Place

# What a file that is damaged, or not there any more, may end in.
_UNREADABLE: Final = (Problem, OSError, duckdb.Error, pa.ArrowException)


@dataclass(frozen=True)
class Newest:
    release: Release
    # `trips, distance and duration`
    metrics: str
    # Those with numbers, if it has any.
    places: PlacesShown | None

    @property
    def sentence(self) -> str:
        """`trips, distance and duration in 24 places, week of 30 Nov – 6 Dec 2026`."""
        where = f" in {self.places.count:,} {self.places.noun}" if self.places else ""
        return f"{self.metrics}{where}, {dated(self.release.window.as_window())}"


@dataclass(frozen=True)
class WithNumbers:
    """What the newest releases of all tasks tell something of."""

    # Codes: also of countries that are told of by their places alone.
    countries: frozenset[str]
    # Most populous first.
    places: tuple[Place, ...]

    @cached_property
    def ids(self) -> frozenset[int]:
        return frozenset(place.geonameid for place in self.places)

    def within(self, country: str) -> list[Place]:
        return [place for place in self.places if place.country == country]


def with_numbers(viewer: Viewer) -> WithNumbers:
    """A release whose files are not as they should be tells nothing."""
    countries: set[str] = set()
    regions: set[str] = set()
    for release in filter(None, (latest(viewer, task) for task in tasks_with_files(viewer))):
        with suppress(*_UNREADABLE):
            tables = Tables(Shown(release))
            regions |= values_shown(tables, tables.region_key)
            countries |= values_shown(tables, tables.country_key)
    places = streams.places_of(sorted(regions))
    return WithNumbers(frozenset(countries.union(one.country for one in places)), tuple(places))


def newest(viewer: Viewer) -> Newest | None:
    """The one that was released last: a month is over later than the weeks that begin after it.
    Nothing where there is none for the viewer, or its files are not as they should be."""
    release = rendered(viewer).order_by("-released_at", "-pk").first()
    if release is None:
        return None
    try:
        shown = Shown(release)
        metrics = listed([plain(metric) for metric in published_columns(shown.config)])
        return Newest(release, metrics, places_shown(Tables(shown)))
    except _UNREADABLE:
        return None
