"""A table of a release, opened: its layout, and which of its keys are places."""

from dataclasses import dataclass

from django.http import Http404

from aggregation.protocol.server_config import ServerConfig
from portal.problems import Conflict
from portal.releases.files import is_intact
from portal.releases.filtering import Filter
from portal.releases.grouping import COUNTRY
from portal.releases.models import Release
from portal.releases.querying import Question
from portal.releases.reading import Layout, question
from portal.releases.showing import Shown, kind_of_domain


class NotYet(Conflict):
    """Nothing is wrong with the question; the files are made, or made again, in a moment."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="Ask again in a few seconds.")


@dataclass(frozen=True)
class OpenTable:
    release: Release
    config: ServerConfig
    layout: Layout

    @property
    def name(self) -> str:
        return self.layout.file.name

    @property
    def region_key(self) -> str:
        """The key whose values are places, if this table has it."""
        return self.layout.regions

    @property
    def country_keys(self) -> tuple[str, ...]:
        """Keys whose values are countries: the task's own, or the one that regions fall into."""
        own = {key.name: key.domain for key in self.config.keys}
        return tuple(
            key
            for key in self.layout.keys
            if (kind_of_domain(own[key]) == "countries" if key in own else key == COUNTRY)
        )

    def question(self, asked: Filter, columns: list[str]) -> Question:
        return question(
            self.layout,
            columns,
            where=asked.where,
            shown_only=asked.shown_only,
            sort=asked.sort,
            order=asked.order,
            joins=False,
        )


def open_table(release: Release, name: str) -> OpenTable:
    """Exactly what was signed for, or NotYet."""
    shown = opened(release)
    file = shown.file(name)
    if file is None:
        known = ", ".join(one.name for one in shown.files)
        raise Http404(f"This release has no table {name[:60]!r}. There are {known}.")
    if not is_intact(file):
        raise NotYet(f"{file.file} differs from what was signed, so it is not served.")
    return OpenTable(release, shown.config, shown.layout(file))


def opened(release: Release) -> Shown:
    if not hasattr(release, "rendering"):
        raise NotYet("The files of this release are being made.")
    return Shown(release)
