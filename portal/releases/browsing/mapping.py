"""A release as a map: countries by their shade, places by the size of a point.

Both can be coloured by a share (of the same place's sum over the keys that are held, such as
cycling among all activities) or by the change since the window before. A change that could be
noise alone has no colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from aggregation.errors import Problem
from portal.charts import Mark, Place, Shade, world_map
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
        return cls(
            metric=one_of(asked.get("metric", ""), tables.metrics, "metric", tables.metrics[0]),
            where=where,
            within=one_of(asked.get("within", "").upper(), codes, "country", ""),
            colour=one_of(asked.get("colour", ""), tuple(COLOURS), "colour", ""),
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
    href: str
    place: geography.Place | None = None
    # What its colour is about: a share in percent, or the number of the window before.
    share: Number | None = None
    before: Number | None = None

    @property
    def change(self) -> Change | None:
        return Change.between(self.before, self.number) if self.before else None

    @property
    def shade(self) -> Shade | None:
        """Nothing where it is not known. A change is in percent of the number before, and so is
        the interval of the difference."""
        if self.share is not None and self.share.value is not None:
            return Shade(self.share.value, self.share.half_width)
        change = self.change
        if change is None or change.percent is None or not (self.before and self.before.value):
            return None
        width = 100 * change.half_width / self.before.value
        return Shade(change.percent, width, is_noise=not change.is_clear)


@dataclass(frozen=True)
class Map:
    view: MapView
    title: str
    unit: str
    countries: tuple[Spot, ...]
    places: tuple[Spot, ...]

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
        titles = {"share": "Share in %", "change": "Change since the window before"}
        return titles.get(self.view.colour, "")

    @property
    def told(self) -> str:
        """What the colours come to, in a sentence; or why there are none."""
        if self.view.colour == "share" and not self.view.where:
            return "A share is that of one value, such as cycling: choose one to colour by it."
        if self.view.colour == "change":
            return _told_changes(self.spots)
        return ""

    @property
    def figure(self) -> str:
        return self.svg(heading=False)

    def svg(self, *, heading: bool = True) -> str:
        view = self.view
        return world_map(
            {one.id: _mark(one) for one in self.countries},
            [
                Place(one.name, one.place.latitude, one.place.longitude, _mark(one), one.shade)
                for one in self.places
                if one.place
            ],
            title=self.title,
            unit=self.unit,
            colour_title=self.colour_title,
            colours={one.id: one.shade for one in self.countries if one.shade is not None},
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
        if self.view.within:
            there = streams.places_matching("", country=self.view.within, limit=MOST_PLACES)
            only = {key: [str(place.geonameid) for place in there]}
        rows = self._numbers(self.tables, key, only, self.view.where)
        places = {str(p.geonameid): p for p in streams.places_of([one for one, _, _ in rows])}
        found = [
            Spot(one, places[one].name, number, why, reverse("place", args=[one]), places[one])
            for one, number, why in rows
            if one in places
        ]
        return self._coloured(key, found)

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

    def _coloured(self, key: str, spots: list[Spot]) -> list[Spot]:
        only: Where = {key: [spot.id for spot in spots]}
        if self.view.colour == "share":
            return self._with_shares(key, spots, only)
        if self.view.colour == "change":
            return self._with_changes(key, spots, only)
        return spots

    def _with_shares(self, key: str, spots: list[Spot], only: Where) -> list[Spot]:
        if not self.view.where:
            return spots
        self.tables.needs_sum(self.view.metric)
        whole = {one: number for one, number, _ in self._numbers(self.tables, key, only, {})}
        return [
            replace(spot, share=share(spot.number, whole[spot.id])) if spot.id in whole else spot
            for spot in spots
        ]

    def _with_changes(self, key: str, spots: list[Spot], only: Where) -> list[Spot]:
        before, held = self.before, self.view.where
        if before is None or not before.has(self.view.metric, [key, *held]):
            return spots
        earlier = {one: number for one, number, _ in self._numbers(before, key, only, held)}
        return [
            replace(spot, before=earlier[spot.id]) if spot.id in earlier else spot for spot in spots
        ]


def _told_changes(spots: Sequence[Spot]) -> str:
    changes = [spot.change for spot in spots if spot.number.value is not None]
    known = [change for change in changes if change is not None]
    if not known:
        return "Nothing of the window before is shown here, so there is no change to colour by."
    more, less, same = (
        sum(change.direction == one for change in known) for one in ("more", "less", "same")
    )
    words = (
        f"Of {len(changes):,} that are shown, {more:,} grew and {less:,} shrank by more than the "
        f"noise; {same:,} changed within the noise"
    )
    missing = len(changes) - len(known)
    return f"{words}; {missing:,} had nothing shown before." if missing else f"{words}."


def _mark(spot: Spot) -> Mark:
    return Mark(spot.number.value, spot.number.half_width, note=spot.suppressed, href=spot.href)


def ordered(spots: Sequence[Spot]) -> list[Spot]:
    """For the table: the largest first, then what is not shown."""
    return sorted(spots, key=lambda s: (s.number.value is None, -(s.number.value or 0), s.name))
