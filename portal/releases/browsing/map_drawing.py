"""A map of a release as it is drawn, and what is said of its colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from portal.charts import AREAS, Area, Place, world_map
from portal.releases.browsing.charting import PER_INHABITANT_WARNING
from portal.releases.browsing.map_spots import Spot, told_changes, told_spread
from portal.releases.browsing.map_view import WORLD, MapView
from portal.releases.browsing.measuring import PER
from portal.releases.browsing.units import counted, label
from portal.releases.reasons import listed


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
    def hidden(self) -> list[tuple[str, list[Spot]]]:
        """Those of the table that are not shown, by their reason."""
        found: dict[str, list[Spot]] = {}
        for spot in self.spots:
            if spot.number.value is None:
                found.setdefault(spot.suppressed, []).append(spot)
        return list(found.items())

    @property
    def hidden_count(self) -> int:
        return sum(len(spots) for _, spots in self.hidden)

    @property
    def shown_count(self) -> int:
        return len(self.spots) - self.hidden_count

    @property
    def head(self) -> str:
        """Of the table's numbers: `distance (km)`, `trips`."""
        return label(self.view.metric, self.unit)

    @property
    def noun(self) -> str:
        """What its numbers count: `km`, `trips`."""
        return counted(self.view.metric, self.unit)

    @property
    def is_shaded(self) -> bool:
        """Whether colours say something else than sizes do."""
        return any(spot.shade for spot in (*self.places, *self.countries))

    @property
    def colour_title(self) -> str:
        """What colours say, for the legend and the table."""
        titles = {
            "share": "Share in %" + (f" among {listed(self.among)}" if self.among else ""),
            "person": f"{self.noun} per {PER:,} inhabitants",
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
            return "Countries have no colour: numbers of inhabitants are known for places only."
        return ""

    @property
    def told(self) -> str:
        """All that is to be said of its colours."""
        return " ".join(filter(None, [self.warning, self.remark]))

    @cached_property
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
            unit=self.noun,
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
        return "A share is of one value, such as cycling: choose a value to colour by its share."
    if not found.is_shaded:
        return "Noise drowns the totals that shares are of, so there is no share to colour by."
    words = (
        "In most of these places noise drowns the sum over all: these are shares of "
        f"{listed(found.among)} together."
    )
    return " ".join(filter(None, [words if found.among else "", told_spread(found.spots)]))
