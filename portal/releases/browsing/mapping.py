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
from portal.charts import AREAS, Area, Place, in_sight, world_map
from portal.releases.browsing.charting import PER_INHABITANT_WARNING
from portal.releases.browsing.choosing import compared_key
from portal.releases.browsing.map_spots import Spot, alike, ordered, told_changes, told_spread
from portal.releases.browsing.map_view import COLOURS, WORLD, MapView
from portal.releases.browsing.measuring import PER, per_inhabitant
from portal.releases.browsing.ranking import ranking
from portal.releases.browsing.tables import Tables, pick
from portal.releases.browsing.units import spoken
from portal.releases.reading import EVERYTHING, Number, Where
from portal.releases.reasons import listed
from portal.streams import selectors as streams
from portal.streams.gazetteer import gazetteer

__all__ = ["COLOURS", "Map", "MapView", "map_of", "ordered"]

# More points than this make a map slow, and nobody can tell them apart.
MOST_PLACES: Final = 2_000
# A value of a key, its number, and why that is not shown.
_Told = tuple[str, Number, str]


@dataclass(frozen=True)
class Map:
    view: MapView
    title: str
    unit: str
    countries: tuple[Spot, ...]
    places: tuple[Spot, ...]
    # Those that have a number to show.
    areas: tuple[str, ...]

    @property
    def seen(self) -> str:
        """What the drawing shows: what was asked for, or the one area that has all numbers."""
        if self.view.within:
            return self.view.within
        return self.areas[0] if len(self.areas) == 1 else WORLD

    @property
    def looks(self) -> list[tuple[str, str, bool]]:
        """The areas that can be looked at: name, address, and whether it is this one."""
        known = {WORLD: "World", **{one: AREAS[one].name for one in self.areas}}
        return [
            (name, f"?{self.view.but(within=one).query}", one == self.seen)
            for one, name in known.items()
        ]

    @property
    def all_areas(self) -> Mapping[str, Area]:
        return AREAS

    @property
    def is_shown(self) -> bool:
        return any(one.number.value is not None for one in (*self.countries, *self.places))

    @property
    def spots(self) -> tuple[Spot, ...]:
        """What its table has: the places, or the countries where there are none."""
        return self.places or self.countries

    @property
    def is_shaded(self) -> bool:
        """Whether colours say something else than sizes do."""
        return any(spot.shade for spot in (*self.places, *self.countries))

    @property
    def colour_title(self) -> str:
        """What colours say, for the legend and the table."""
        titles = {
            "share": "Share in %" + (f" among {listed(self.among)}" if self.among else ""),
            "person": f"{self.unit or self.view.metric} per {PER:,} inhabitants",
            "change": "Change since the window before",
        }
        return titles.get(self.view.colour, "")

    @property
    def among(self) -> tuple[str, ...]:
        """The values that shares are of together; empty where they are of all."""
        return next((spot.among for spot in self.spots if spot.among), ())

    @property
    def warning(self) -> str:
        """What its colours would be read wrongly without; else empty."""
        return PER_INHABITANT_WARNING if self.view.colour == "person" else ""

    @property
    def remark(self) -> str:
        """What the colours come to; or why there are none."""
        if self.view.colour == "share":
            return _told_shares(self)
        if self.view.colour == "change":
            return told_changes(self.spots)
        if self.view.colour == "person":
            return "Countries have no colour: inhabitants are of places."
        return ""

    @property
    def told(self) -> str:
        """All that is to be said of its colours."""
        return " ".join(filter(None, [self.warning, self.remark]))

    @property
    def figure(self) -> str:
        return self.svg(heading=False)

    def svg(self, *, heading: bool = True) -> str:
        """By itself, with its title, it also holds what a page says beside it."""
        view = self.view
        return world_map(
            {one.id: one.mark for one in self.countries},
            [
                Place(one.name, one.place.latitude, one.place.longitude, one.mark, one.shade)
                for one in self.places
                if one.place
            ],
            title=self.title,
            unit=self.unit,
            colour_title=self.colour_title,
            colour_unit="" if view.colour == "person" else "%",
            colours={one.id: one.shade for one in self.countries if one.shade is not None},
            diverging=view.colour == "change",
            within=self.seen if self.seen != WORLD else "",
            uncertainty=view.uncertainty,
            heading=heading,
            remarks=[one for one in (self.warning, self.remark) if one and heading],
        )


def _told_shares(found: Map) -> str:
    if not found.view.where:
        return "A share is that of one value, such as cycling: choose one to colour by it."
    if not found.is_shaded:
        return "Noise drowns the sums that shares would be of, so there is no share to colour by."
    words = (
        "In most of these places noise drowns the sum over all: these are shares of "
        f"{listed(found.among)} together."
    )
    return " ".join(filter(None, [words if found.among else "", told_spread(found.spots)]))


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
            areas=tuple(self._areas()),
        )

    def _areas(self) -> list[str]:
        """Where the largest numbers of the whole world are, in the order of areas."""
        ids = [one for one, number, _ in self._world if number.value is not None]
        known = gazetteer().places
        at = {known[one].country if one in known else one for one in ids}
        found = {continent for code, continent in self._continents.items() if code in at}
        return [name for name, area in AREAS.items() if area.continent in found]

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
            Spot(code, names.get(code, code), number, why, reverse("country", args=[code]))
            for code, number, why in rows
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
        places = {str(p.geonameid): p for p in streams.places_of([one for one, _, _ in rows])}
        found = [
            Spot(one, places[one].name, number, why, reverse("place", args=[one]), places[one])
            for one, number, why in rows
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
        """What this window has; of everything, it is read once."""
        if not only and key == self._finest:
            return self._world
        return self._numbers(self.tables, key, only, self.view.where)

    @cached_property
    def _world(self) -> list[_Told]:
        return self._numbers(self.tables, self._finest, EVERYTHING, self.view.where)

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
        return [
            (str(row.keys[at]), pick(layout, row, self.view.metric), row.suppressed) for row in rows
        ]

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
            self.tables, self.view.metric, by=key, key=of, where=where, count=MOST_PLACES
        )
        among = tuple(self.tables.name_of(of)(one) for one in ranked.among)
        shares = ranked.shares
        return [replace(spot, measure=shares.get(spot.id), among=among) for spot in spots]

    def _with_changes(self, key: str, spots: list[Spot], only: Where) -> list[Spot]:
        before, held = self.before, self.view.where
        if before is None or not before.has(self.view.metric, [key, *held]):
            return spots
        earlier = {one: number for one, number, _ in self._numbers(before, key, only, held)}
        return [
            replace(spot, before=earlier[spot.id]) if spot.id in earlier else spot for spot in spots
        ]
