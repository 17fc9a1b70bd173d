"""What there is to see, for whoever comes in: the newest release in a sentence, and its places."""

from __future__ import annotations

from dataclasses import dataclass

from aggregation.errors import Problem
from aggregation.release.tables import published_columns
from portal.releases.browsing.history import Viewer, latest
from portal.releases.browsing.places_shown import PlacesShown, places_shown
from portal.releases.browsing.tables import Tables
from portal.releases.dating import dated
from portal.releases.models import Release
from portal.releases.reasons import listed, plain
from portal.releases.showing import Shown


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


def newest(viewer: Viewer) -> Newest | None:
    """Nothing where there is no release for the viewer, or its files are not as they should be."""
    release = latest(viewer)
    if release is None:
        return None
    try:
        shown = Shown(release)
        metrics = listed([plain(metric) for metric in published_columns(shown.config)])
        return Newest(release, metrics, places_shown(Tables(shown)))
    except Problem:
        return None
