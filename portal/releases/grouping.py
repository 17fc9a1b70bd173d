"""How the regions of a release fall into countries, as the installed places say."""

from functools import lru_cache
from pathlib import Path

from aggregation.errors import Problem
from aggregation.release.grouping import Grouping
from aggregation.release.recipe import Recipe
from portal.streams import places
from portal.streams.selectors import streams_folder

COUNTRY = "country"


def grouping_of(recipe: Recipe) -> Grouping | None:
    """Countries for the key whose values are the installed regions; none without such a key."""
    folder = streams_folder()
    try:
        regions, _ = places.place_domains(folder)
    except Problem:  # streams without places
        return None
    keys = [key.name for key in recipe.config.keys if key.domain == regions]
    if not keys or COUNTRY in recipe.cells.names:
        return None
    return _grouping(folder, regions, keys[0])


@lru_cache(maxsize=2)
def _grouping(folder: Path, regions: str, key: str) -> Grouping:
    return Grouping.by(COUNTRY, key, places.region_countries(folder))
