"""A release as a map: countries by their shade, places by the size of a point.

Both can be coloured by a share (of the same place's sum over the keys that are held, such as
cycling among all activities), by the amount per inhabitant or by the change since the window
before. A change that could be noise alone has no colour. A map shows the world, a continent, or a
country with all its places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from django.urls import reverse

from aggregation.errors import Problem
from portal.charts import AREAS, in_sight
from portal.releases.browsing.choosing import compared_key
from portal.releases.browsing.map_areas import areas_with_numbers
from portal.releases.browsing.map_drawing import Map
from portal.releases.browsing.map_spots import Spot, alike, ordered
from portal.releases.browsing.map_view import COLOURS, MapView
from portal.releases.browsing.measuring import per_inhabitant
from portal.releases.browsing.ranking import ranking
from portal.releases.browsing.tables import Found, Tables, found_in
from portal.releases.browsing.units import spoken
from portal.releases.reading import EVERYTHING, Where
from portal.streams import selectors as streams
from portal.streams.gazetteer import gazetteer

__all__ = ["COLOURS", "Map", "MapView", "map_of", "ordered"]

# More points than this make a map slow, and nobody can tell them apart.
MOST_PLACES: Final = 2_000
# A value of a key, and what there is of it.
_Told = tuple[str, Found]


def map_of(view: MapView, tables: Tables, before: Tables | None) -> Map:
    """`before` is the release of the window before, if it can be read."""
    if not tables.country_key and not tables.region_key:
        raise Problem("This task has no places among its keys, so there is no map of it.")
    return _Mapping(view, tables, before).map()


@dataclass(frozen=True)
class _Mapping:
    view: MapView
    tables: Tables
    before: Tables | None

    def map(self) -> Map:
        tables, view = self.tables, self.view
        unit = tables.unit(view.metric)
        held = ", ".join(tables.name_of(key)(value) for key, value in view.where.items())
        title = f"{spoken(view.metric, unit).capitalize()} by place"
        names = {one.code: one.name for one in streams.countries()}
        if view.country:
            title += f" in {names[view.country]}"
        elif view.area:
            title += f" in {AREAS[view.area].name}"
        countries, places = self._countries(names), self._places()
        return Map(
            view=view,
            title=title + (f" ({held})" if held else ""),
            unit=unit,
            countries=tuple(alike(countries, places)),
            places=tuple(places),
            areas=areas_with_numbers(tables, view.metric, self._finest, view.where),
        )

    @cached_property
    def _continents(self) -> dict[str, str]:
        return {one.code: one.continent for one in streams.countries()}

    def _codes(self) -> list[str]:
        """Of the countries that are looked at, unless it is the world."""
        view = self.view
        if view.area:
            continent = AREAS[view.area].continent
            return [code for code, one in self._continents.items() if one == continent]
        return [view.country] if view.country else []

    def _countries(self, names: Mapping[str, str]) -> list[Spot]:
        key = self.tables.country_key
        if not key:
            return []
        near_by = self.view.area or self.view.country
        only = {key: self._codes()} if near_by else EVERYTHING
        rows = self._now(key, only)
        found = [
            Spot.of(code, names.get(code, code), one, reverse("country", args=[code]))
            for code, one in rows
        ]
        return self._coloured(key, found)

    def _places(self) -> list[Spot]:
        key = self.tables.region_key
        if not key:
            return []
        only: Where = EVERYTHING
        if self.view.country:
            there = streams.places_matching("", country=self.view.country, limit=MOST_PLACES)
            only = {key: [str(place.geonameid) for place in there]}
        elif self.view.area:
            only = {key: self._in_sight(self.view.area)}
        rows = self._now(key, only)
        places = {str(p.geonameid): p for p in streams.places_of([one for one, _ in rows])}
        found = [
            Spot.of(one, places[one].name, told, reverse("place", args=[one]), places[one])
            for one, told in rows
            if one in places
        ]
        return self._coloured(key, found)

    def _in_sight(self, area: str) -> list[str]:
        """Places of its countries that its map shows: some countries reach far beyond."""
        codes = set(self._codes())
        return [
            one
            for one, place in gazetteer().places.items()
            if place.country in codes and in_sight(area, place.longitude, place.latitude)
        ]

    def _now(self, key: str, only: Where) -> list[_Told]:
        """What this window has."""
        return self._numbers(self.tables, key, only, self.view.where)

    @property
    def _finest(self) -> str:
        return self.tables.region_key or self.tables.country_key

    def _numbers(
        self, tables: Tables, key: str, only: Where, held: Mapping[str, str]
    ) -> list[_Told]:
        """Each value of the key with its number. Of places only those that show, unless they are
        those of one country."""
        layout, rows = tables.rows(
            [key, *held],
            self.view.metric,
            where={**only, **{name: [value] for name, value in held.items()}},
            shown_only=key == tables.region_key and not self.view.country,
            sort=self.view.metric,
            count=MOST_PLACES,
        )
        at = layout.keys.index(key)
        return [(str(row.keys[at]), found_in(layout, row, self.view.metric)) for row in rows]

    def _coloured(self, key: str, spots: list[Spot]) -> list[Spot]:
        only: Where = {key: [spot.id for spot in spots]}
        if self.view.colour == "share":
            return self._with_shares(key, spots, only)
        if self.view.colour == "person":
            self.tables.needs_sum(self.view.metric)
            return [replace(spot, measure=per_inhabitant(spot.number, spot.id)) for spot in spots]
        if self.view.colour == "change":
            return self._with_changes(key, spots, only)
        return spots

    def _with_shares(self, key: str, spots: list[Spot], only: Where) -> list[Spot]:
        of = compared_key(key, self.view.where, self.tables)
        if not of or not spots:
            return spots
        self.tables.needs_sum(self.view.metric)
        where = {**only, **{name: [value] for name, value in self.view.where.items()}}
        ranked = ranking(
            self.tables,
            self.view.metric,
            by=key,
            key=of,
            where=where,
            count=MOST_PLACES,
            parts={spot.id: spot.number for spot in spots},
        )
        among = tuple(self.tables.name_of(of)(one) for one in ranked.among)
        shares = ranked.shares
        return [replace(spot, measure=shares.get(spot.id), among=among) for spot in spots]

    def _with_changes(self, key: str, spots: list[Spot], only: Where) -> list[Spot]:
        before, held = self.before, self.view.where
        if before is None or not before.has(self.view.metric, [key, *held]):
            return spots
        earlier = {one: told.number for one, told in self._numbers(before, key, only, held)}
        return [
            replace(spot, before=earlier[spot.id]) if spot.id in earlier else spot for spot in spots
        ]
