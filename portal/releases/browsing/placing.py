"""What releases say of one place or one country: its latest window, and the windows before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from aggregation.release.emissions import ACTIVITY
from aggregation.release.emissions import COLUMN as EMISSIONS
from portal.releases.browsing.comparing import Comparison, Side, compare
from portal.releases.browsing.headline import Headline, headline
from portal.releases.browsing.history import (
    Viewer,
    latest,
    period,
    tables_before,
    tasks_with_files,
)
from portal.releases.browsing.measuring import is_nothing
from portal.releases.browsing.over_time import OverTime
from portal.releases.browsing.tables import Found, Tables
from portal.releases.browsing.taking_part import took_part
from portal.releases.models import Release
from portal.releases.showing import Shown
from portal.streams import selectors as streams


@dataclass(frozen=True)
class Subject:
    """A place or a country."""

    name: str
    # The value of the region key, or empty.
    region: str
    country: str

    @classmethod
    def of_region(cls, geonameid: int) -> Subject | None:
        place = streams.place(geonameid)
        return cls(place.name, str(place.geonameid), place.country) if place else None

    @classmethod
    def of_country(cls, code: str) -> Subject | None:
        names = {one.code: one.name for one in streams.countries()}
        return cls(names[code], "", code) if code in names else None

    def key(self, tables: Tables) -> str:
        """The key that knows it; empty if this release has none."""
        return tables.region_key if self.region else tables.country_key

    @property
    def value(self) -> str:
        return self.region or self.country


def tasks_about(viewer: Viewer, subject: Subject) -> list[str]:
    """Names of tasks whose releases have a row for it, the one released last first."""
    newest = ((name, latest(viewer, name)) for name in tasks_with_files(viewer))
    return [name for name, found in newest if found and subject.key(Tables(Shown(found)))]


@dataclass(frozen=True)
class Told:
    """One subject, one metric, one window of one task, with other keys held if asked."""

    subject: Subject
    viewer: Viewer
    release: Release
    metric: str
    held: Mapping[str, str]

    @cached_property
    def tables(self) -> Tables:
        return Tables(Shown(self.release))

    @cached_property
    def earlier(self) -> Tables | None:
        return tables_before(self.viewer, self.release)

    @property
    def key(self) -> str:
        return self.subject.key(self.tables)

    @property
    def where(self) -> dict[str, str]:
        return {self.key: self.subject.value, **self.held}

    @cached_property
    def headline(self) -> Headline:
        said = headline(
            self.metric, self.tables, self.earlier, where=self.where, place=self.subject.name
        )
        if not self.is_nothing:
            return said
        how = f" by {self.held[ACTIVITY]}" if ACTIVITY in self.held else ""
        when, where = period(self.release), self.subject.name
        nothing = f"nothing was emitted{how} in {where}: no fuel is burnt."
        return replace(said, sentence=f"{when[0].upper()}{when[1:]} {nothing}")

    @cached_property
    def is_nothing(self) -> bool:
        """Kilometres times a factor of 0, which leaves no noise: nobody need be told so twice."""
        return self._found is not None and is_nothing(self._found.number)

    @cached_property
    def _found(self) -> Found | None:
        return self.tables.one(self.metric, self.where)

    @property
    def took_part(self) -> str:
        """What to bear in mind beside a change."""
        then = self.earlier.shown.release if self.earlier else None
        return took_part(self.viewer, self.release, then, place=self.subject.name)

    def headlines(self) -> list[Headline]:
        """Of each metric; where none is shown, of each value of the first free key that is, the
        largest first."""
        return [one.headline for one in self._apart or self._whole]

    @property
    def summed(self) -> list[str]:
        """The keys that those sum over."""
        return self.free_keys[1:] if self._apart else self.free_keys

    @cached_property
    def _whole(self) -> list[Told]:
        found = [self._about(metric, self.held) for metric in self.tables.metrics]
        return [one for one in found if one.metric == self.metric or not one.is_nothing]

    @cached_property
    def _apart(self) -> list[Told]:
        if any(one.headline.is_shown for one in self._whole) or not self.free_keys:
            return []
        by = self.free_keys[0]
        found = [self._about(self.metric, {**self.held, by: one}) for one in self._values(by)]
        return [one for one in found if one.headline.is_shown and not one.is_nothing]

    def _values(self, by: str) -> list[str]:
        """Of a key, the largest here first."""
        held = {key: [value] for key, value in self.where.items()}
        layout, rows = self.tables.rows([*held, by], self.metric, where=held, sort=self.metric)
        at = layout.keys.index(by)
        return [str(row.keys[at]) for row in rows]

    def _about(self, metric: str, held: Mapping[str, str]) -> Told:
        return replace(self, metric=metric, held=held)

    @property
    def free_keys(self) -> list[str]:
        """Keys that are neither places nor held."""
        taken = {self.tables.region_key, self.tables.country_key, *self.held}
        return [key for key in self.tables.keys if key not in taken]

    def since(self) -> Comparison | None:
        """By the first free key, with the window before."""
        if self.earlier is None or not self.free_keys or self.is_nothing:
            return None
        by = self.free_keys[0]
        if not self.earlier.has(self.metric, [*self.where, by]):
            return None
        now = Side(_label(self.release), self.tables, self.where)
        then = Side(_label(self.earlier.shown.release), self.earlier, self.where)
        return compare(now, then, metric=self.metric, by=by, values=self._values(by))

    def beside_country(self) -> Comparison | None:
        """The same place as shares, beside its country."""
        country = self.tables.country_key
        if not self.subject.region or not country or not self.free_keys:
            return None
        by, whole = self.free_keys[0], Subject.of_country(self.subject.country)
        if whole is None or self.tables.is_ratio(self.metric) or self.is_nothing:
            return None
        here = Side(self.subject.name, self.tables, self.where)
        there = Side(whole.name, self.tables, {country: whole.value, **self.held})
        values = self._values(by)
        return compare(here, there, metric=self.metric, by=by, values=values, shares=True)

    @cached_property
    def over_time(self) -> OverTime:
        free = self.free_keys
        return OverTime(
            viewer=self.viewer,
            release=self.release,
            metric=self.metric,
            where=self.where,
            name=self.subject.name,
            key=free[0] if free else "",
        )


def usual_metric(tables: Tables, subject: Subject, held: Mapping[str, str]) -> str:
    """The first that is shown for the subject: in all, or else for some value of another key.
    Kilometres come before all others; emissions have a page of their own."""
    named = [metric for metric in tables.metrics if metric != EMISSIONS]
    metrics = sorted(named, key=lambda metric: metric != "distance_km")
    where = {subject.key(tables): subject.value, **held}
    free = [key for key in tables.keys if key not in (tables.region_key, tables.country_key)]
    for keys in ([], [key for key in free if key not in held][:1]):
        for metric in metrics:
            if tables.count([*where, *keys], metric, where={k: [v] for k, v in where.items()}):
                return metric
    return metrics[0]


def _label(release: Release) -> str:
    return release.window.as_window().label
