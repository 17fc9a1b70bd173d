"""All files of a release, from its committed numbers. Doing it again gives the same files.

`cells.parquet` has every declared cell, `by-….parquet` each subset of the keys, `total.parquet` the
whole; `emissions-….parquet` the same for emissions where the task asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aggregation.protocol.windows import Window
from aggregation.release.emissions import emission_tables
from aggregation.release.estimates import Estimates, cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.intervals import meaning
from aggregation.release.marginals import marginals
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.render import About, file_name, write_parquet
from aggregation.release.tables import Table, chunks

EMISSIONS = "emissions"
PREFIX = "emissions-"


@dataclass(frozen=True, eq=False)
class Source:
    """What all files of one release are made of."""

    task: str
    window: Window
    recipe: Recipe
    noised: Noised
    # How regions fall into countries.
    grouping: Grouping | None = None

    @property
    def about(self) -> About:
        return About(
            task=self.task,
            window=self.window.id,
            epsilon=self.recipe.config.epsilon,
            noised=self.noised.sha256,
            intervals=meaning(self.recipe.config.clip_uncertainty),
        )


def write_files(source: Source, folder: Path) -> dict[str, str]:
    """Write every file into the folder, and tell their hashes for the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = source.recipe.cells.names
    hashes: dict[str, str] = {}
    for estimates in _all_estimates(source):
        name = file_name(estimates.cells.names, all_keys=keys)
        pieces = chunks(estimates, source.recipe.config)
        hashes[name] = write_parquet(pieces, source.about, folder / name)
    for table in _emissions(source):
        name = file_name(table.cells.names, all_keys=keys, prefix=PREFIX)
        hashes[name] = write_parquet([table], source.about, folder / name)
    return hashes


def _all_estimates(source: Source) -> Iterator[Estimates]:
    yield cell_estimates(source.noised, source.recipe)
    yield from marginals(source.noised, source.recipe, grouping=source.grouping)


def _emissions(source: Source) -> Iterator[Table]:
    if source.recipe.config.post_processing == EMISSIONS:
        cells = cell_estimates(source.noised, source.recipe)
        yield from emission_tables(cells, source.recipe, grouping=source.grouping)
