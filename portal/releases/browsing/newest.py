"""What there is to see, for whoever comes in: the newest release in a sentence, and its places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import duckdb
import pyarrow as pa

from aggregation.errors import Problem
from aggregation.release.tables import published_columns
from portal.releases.browsing.history import Viewer, rendered
from portal.releases.browsing.places_shown import PlacesShown, places_shown
from portal.releases.browsing.tables import Tables
from portal.releases.dating import dated
from portal.releases.models import Release
from portal.releases.reasons import listed, plain
from portal.releases.showing import Shown

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
