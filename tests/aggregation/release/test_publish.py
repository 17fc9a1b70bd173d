"""The files: every declared row with its interval and its reason, the same bytes each time."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from aggregation.protocol.anonymization import JointClipping
from aggregation.protocol.server_config import Derived
from aggregation.protocol.windows import Unit, Window
from aggregation.release.estimates import cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.publish import Source, write_files
from aggregation.release.render import file_name
from aggregation.release.tables import table
from tests.aggregation.release.examples import (
    DOMAINS,
    clip_uncertainty,
    recipe,
    report_of,
    some_sums,
)

WEEK = Window.parse("2026-11-09", Unit.WEEK)
RATIO = Derived(name="km_per_trip", numerator="distance_km", denominator="num_trips")


@pytest.fixture(scope="module")
def source() -> Source:
    made = recipe(
        derived=(RATIO,),
        post_processing="emissions",
        hidden=("duration_min",),
        clip_uncertainty=clip_uncertainty(1.5, together=0.5, systematic=0.01),
    )
    return Source(
        task="weekly-trips",
        window=WEEK,
        recipe=made,
        noised=add_noise(report_of(some_sums(made, devices=800)), made),
        grouping=Grouping.by("country", "region", ["DE", "FR", "FR", "DE"]),
    )


@pytest.fixture(scope="module")
def files(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    write_files(source, folder)
    return folder


def test_there_is_a_file_for_every_set_of_keys(files: Path) -> None:
    names = {path.name for path in files.iterdir()}
    plain = {n for n in names if not n.startswith("emissions-")}
    assert len(plain) == 12
    assert {"cells.parquet", "by-country-activity-direction.parquet", "total.parquet"} <= plain
    assert names - plain == {f"emissions-{n}" for n in plain}


def test_every_declared_cell_is_there(source: Source, files: Path) -> None:
    rows = pq.read_table(files / "cells.parquet")
    assert rows.num_rows == 16
    assert rows.column_names == [
        "region", "activity", "direction", "privacy_time_unit",
        *(f"{c}{part}" for c in ("num_trips", "distance_km", "km_per_trip")
          for part in ("", "_half_width", "_noise", "_clip_correction", "_clip_uncertainty")),
        "km_per_trip_suppressed", "suppressed",
    ]  # fmt: skip
    found = rows.to_pydict()
    keys = zip(found["region"], found["activity"], found["direction"], strict=True)
    expected = [(r, a, d) for r in DOMAINS["region"] for a in DOMAINS["activity"]
                for d in DOMAINS["direction"]]  # fmt: skip
    assert list(keys) == expected
    assert set(found["privacy_time_unit"]) == {"2026-11-09"}


def test_suppressed_rows_have_a_reason_and_no_number(source: Source, files: Path) -> None:
    found = pq.read_table(files / "cells.parquet").to_pydict()
    seen = table(cell_estimates(source.noised, source.recipe), source.recipe.config)
    told = [seen.sentences[reason] or None for reason in seen.reasons]
    assert found["suppressed"] == told
    assert [v is None for v in found["distance_km"]] == [reason is not None for reason in told]
    kept = [p for p, reason in enumerate(found["suppressed"]) if reason is None]
    assert 0 < len(kept) < 16
    for column in seen.columns:
        np.testing.assert_array_equal([found[column.name][p] for p in kept], column.values[kept])
        np.testing.assert_array_equal(
            [found[f"{column.name}_half_width"][p] for p in kept], column.half_width[kept]
        )


def test_doing_it_again_gives_the_same_bytes(source: Source, files: Path, tmp_path: Path) -> None:
    hashes = write_files(source, tmp_path)
    for name, sha256 in hashes.items():
        assert (tmp_path / name).read_bytes() == (files / name).read_bytes()
        assert hashlib.sha256((files / name).read_bytes()).hexdigest() == sha256
    assert write_files(source, tmp_path) == hashes
    assert len(list(tmp_path.iterdir())) == 24


def test_a_file_says_what_it_is(source: Source, files: Path) -> None:
    about = json.loads(pq.read_schema(files / "total.parquet").metadata[b"mayfly"])
    assert about == {
        "task": "weekly-trips",
        "window": "2026-11-09",
        "epsilon": "2",
        "noised": source.noised.sha256,
        "intervals": "The intervals hold two terms: the noise, which is known exactly, and what "
        "clipping may have moved, which is learnt from proxy or public data. The source of the "
        "second: A proxy of this test.",
    }


def test_a_release_in_pieces_is_one_file(
    source: Source, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aggregation.release.tables.CHUNK", 3)
    write_files(source, tmp_path)
    pieces = pq.ParquetFile(tmp_path / "cells.parquet")
    assert pieces.num_row_groups == 6
    assert pieces.read().to_pydict() == pq.read_table(files / "cells.parquet").to_pydict()


def test_a_metric_with_a_name_of_ours_keeps_it(tmp_path: Path) -> None:
    names = ("km", "km_noise")
    made = recipe(metrics=names, mechanism=JointClipping(clip=5.0))
    noised = add_noise(report_of(some_sums(made)), made)
    write_files(Source("clash", WEEK, made, noised), tmp_path)
    found = pq.read_table(tmp_path / "total.parquet")
    assert len(set(found.column_names)) == len(found.column_names) == 12
    values = marginal(noised, made, ()).values[0]
    assert [found["km"][0].as_py(), found["km_noise"][0].as_py()] == values.tolist()
    assert "km_noise_" in found.column_names


def test_files_of_many_long_keys_have_names_that_fit() -> None:
    keys = [f"{n}{'x' * 60}" for n in range(8)]
    names = {file_name(keys[:n], all_keys=[*keys, "one more"]) for n in range(1, 9)}
    assert len(names) == 8
    assert max(map(len, names)) < 240


def test_numbers_as_keys_stay_numbers(tmp_path: Path) -> None:
    made = recipe(domains={"activity": DOMAINS["activity"], "hour_of_day": tuple(range(3))})
    noised = add_noise(report_of(some_sums(made)), made)
    write_files(Source("by-hour", WEEK, made, noised), tmp_path)
    found = pq.read_table(tmp_path / "cells.parquet").to_pydict()
    assert found["hour_of_day"] == [0, 1, 2, 0, 1, 2]
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("emissions")]
