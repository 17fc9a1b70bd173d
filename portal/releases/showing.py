"""What the page of a release shows: its tables with their intervals, and its card."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from aggregation.errors import Problem
from aggregation.protocol.server_config import ServerConfig
from aggregation.release.emissions import COLUMN
from aggregation.release.intervals import meaning
from aggregation.release.tables import published_columns
from portal.releases.files import TableFile, is_intact, table_files
from portal.releases.models import Release
from portal.releases.reading import Layout, layout_of
from portal.releases.reasons import rule_in_words
from portal.streams import selectors as streams
from portal.streams.gazetteer import gazetteer

TOTAL = "total"
Named = Callable[[Any], str]


@dataclass(frozen=True)
class Shown:
    """A release with its files; all of them exactly what was signed for, or a Problem."""

    release: Release

    @cached_property
    def config(self) -> ServerConfig:
        text = self.release.window.revision.server_config_json
        return msgspec.json.decode(text, type=ServerConfig)

    @cached_property
    def files(self) -> list[TableFile]:
        return table_files(self.release)

    def file(self, name: str) -> TableFile | None:
        return next((one for one in self.files if one.name == name), None)

    def layout(self, file: TableFile) -> Layout:
        if not is_intact(file):
            raise Problem(
                f"{file.file} differs from what was signed, so it is not shown.",
                hint="It is made again shortly; if this stays, tell an operator.",
            )
        published = (COLUMN,) if file.is_emissions else published_columns(self.config)
        layout = _layout(file, published)
        return replace(layout, regions=self.region_key if self.region_key in layout.keys else "")

    @cached_property
    def region_key(self) -> str:
        """The key whose values are places, if the task has one."""
        keys = self.config.keys
        return next((key.name for key in keys if kind_of_domain(key.domain) == "regions"), "")

    @property
    def intervals(self) -> str:
        """Which terms the intervals hold."""
        return meaning(self.config.clip_uncertainty)

    @property
    def rule(self) -> str:
        """Which rows are shown."""
        return rule_in_words(self.config.suppression)

    def names(self, keys: tuple[str, ...]) -> list[Named]:
        """How the values of each key are written: places by their names."""
        return [self._named(key) for key in keys]

    def _named(self, key: str) -> Named:
        domains = {one.name: one.domain for one in self.config.keys}
        if key not in domains:
            return _countries() if key == "country" else str
        kind = kind_of_domain(domains[key])
        return _regions() if kind == "regions" else _countries() if kind == "countries" else str


@lru_cache(maxsize=512)
def _layout(file: TableFile, published: tuple[str, ...]) -> Layout:
    """A file that is as it was signed for never changes, nor do its columns."""
    return layout_of(file, published)


def kind_of_domain(domain: str) -> str:
    try:
        return streams.kind_of_domain(domain)
    except Problem:  # streams without places
        return "plain"


def _regions() -> Named:
    places = gazetteer().places

    def named(value: Any) -> str:
        found = places.get(str(value))
        return f"{found.name}, {found.country}" if found else str(value)

    return named


def _countries() -> Named:
    names = gazetteer().countries
    return lambda value: names.get(str(value), str(value))
