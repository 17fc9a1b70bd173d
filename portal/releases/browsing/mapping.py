"""A release as a map: countries by their shade, places by the size of a point.

Points can be coloured by a share (of the same place's sum over the keys that are held, such as
cycling among all activities) or by the change since the window before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from aggregation.errors import Problem
from portal.charts import Mark, Place, world_map
from portal.releases.browsing.change import Change
from portal.releases.browsing.choosing import field_name, held_values, one_of
from portal.releases.browsing.measuring import share
from portal.releases.browsing.tables import Tables, pick
from portal.releases.browsing.units import spoken
from portal.releases.reading import EVERYTHING, Number, Where
from portal.streams import geography
from portal.streams import selectors as streams

COLOURS: Final = {"": "one colour", "share": "share", "change": "change since the window before"}
# More points than this make a map slow, and nobody can tell them apart.
MOST_PLACES: Final = 2_000


@dataclass(frozen=True)
class MapView:
    metric: str
    where: Mapping[str, str] = field(default_factory=dict)
    # A country to look into, by its code; empty for the world.
    within: str = ""
    colour: str = ""
    uncertainty: bool = False

    @classmethod
    def parse(cls, asked: Mapping[str, str], tables: Tables) -> MapView:
        where = held_values(asked, tables, but={tables.region_key, tables.country_key})
        codes = [one.code for one in streams.countries()]
        colour = one_of(asked.get("colour", ""), tuple(COLOURS), "colour", "")
        if colour == "share" and not where:
            colour = ""
        return cls(
            metric=one_of(asked.get("metric", ""), tables.metrics, "metric", tables.metrics[0]),
            where=where,
            within=one_of(asked.get("within", "").upper(), codes, "country", ""),
            colour=colour,
            uncertainty=asked.get("uncertainty") == "1",
        )

    @property
    def query(self) -> str:
        held = {field_name(key): value for key, value in self.where.items()}
        said = {"metric": self.metric, **held, "within": self.within, "colour": self.colour}
        said["uncertainty"] = "1" if self.uncertainty else ""
        return urlencode({name: value for name, value in said.items() if value})


@dataclass(frozen=True)
class Spot:
    """A place or country of the map, as its table says it."""

    id: str
    name: str
    number: Number
    suppressed: str
    colour: float | None
    href: str
    place: geography.Place | None = None


@dataclass(frozen=True)
class Map:
    view: MapView
    title: str
    unit: str
    countries: tuple[Spot, ...]
    places: tuple[Spot, ...]

    @property
    def figure(self) -> str:
        return self.svg(heading=False)

    def svg(self, *, heading: bool = True) -> str:
        view = self.view
        return world_map(
            {one.id: _mark(one) for one in self.countries},
            [
                Place(one.name, one.place.latitude, one.place.longitude, _mark(one), one.colour)
                for one in self.places
                if one.place
            ],
            title=self.title,
            unit=self.unit,
            colour_title=COLOURS[view.colour].capitalize() if view.colour else "",
            colours={one.id: one.colour for one in self.countries if one.colour is not None},
            diverging=view.colour == "change",
            within=view.within,
            uncertainty=view.uncertainty,
            heading=heading,
        )


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
        if view.within:
            title += f" in {names[view.within]}"
        return Map(
            view=view,
            title=title + (f" ({held})" if held else ""),
            unit=unit,
            countries=tuple(self._countries(names)),
            places=tuple(self._places()),
        )

    def _countries(self, names: Mapping[str, str]) -> list[Spot]:
        key = self.tables.country_key
        if not key:
            return []
        only = {key: [self.view.within]} if self.view.within else EVERYTHING
        rows = self._numbers(self.tables, key, only, self.view.where)
        colours = self._colours(key, {code: number for code, number, _ in rows})
        return [
            Spot(
                id=code,
                name=names.get(code, code),
                number=number,
                suppressed=why,
                colour=colours.get(code),
                href=reverse("country", args=[code]),
            )
            for code, number, why in rows
        ]

    def _places(self) -> list[Spot]:
        key = self.tables.region_key
        if not key:
            return []
        only: Where = EVERYTHING
        if self.view.within:
            there = streams.places_matching("", country=self.view.within, limit=MOST_PLACES)
            only = {key: [str(place.geonameid) for place in there]}
        rows = self._numbers(self.tables, key, only, self.view.where)
        places = {str(p.geonameid): p for p in streams.places_of([one for one, _, _ in rows])}
        colours = self._colours(key, {one: number for one, number, _ in rows})
        return [
            Spot(
                id=one,
                name=places[one].name,
                number=number,
                suppressed=why,
                colour=colours.get(one),
                href=reverse("place", args=[one]),
                place=places[one],
            )
            for one, number, why in rows
            if one in places
        ]

    def _numbers(
        self, tables: Tables, key: str, only: Where, held: Mapping[str, str]
    ) -> list[tuple[str, Number, str]]:
        """Each value of the key with its number. Of the world's places only those that show."""
        layout, rows = tables.rows(
            [key, *held],
            self.view.metric,
            where={**only, **{name: [value] for name, value in held.items()}},
            shown_only=key == tables.region_key and not only,
            sort=self.view.metric,
            count=MOST_PLACES,
        )
        at = layout.keys.index(key)
        return [
            (str(row.keys[at]), pick(layout, row, self.view.metric), row.suppressed) for row in rows
        ]

    def _colours(self, key: str, numbers: Mapping[str, Number]) -> dict[str, float]:
        only: Where = {key: list(numbers)}
        if self.view.colour == "share":
            self.tables.needs_sum(self.view.metric)
            whole = {one: n for one, n, _ in self._numbers(self.tables, key, only, {})}
            shares = {one: share(n, whole[one]).value for one, n in numbers.items() if one in whole}
            return {one: value / 100 for one, value in shares.items() if value is not None}
        before, held = self.before, self.view.where
        if self.view.colour == "change" and before and before.has(self.view.metric, [key, *held]):
            earlier = self._numbers(before, key, only, held)
            changes = {one: Change.between(n, numbers[one]) for one, n, _ in earlier}
            return {
                one: change.percent / 100
                for one, change in changes.items()
                if change is not None and change.percent is not None
            }
        return {}


def _mark(spot: Spot) -> Mark:
    return Mark(spot.number.value, spot.number.half_width, note=spot.suppressed, href=spot.href)


def ordered(spots: Sequence[Spot]) -> list[Spot]:
    """For the table: the largest first, then what is not shown."""
    return sorted(spots, key=lambda s: (s.number.value is None, -(s.number.value or 0), s.name))
