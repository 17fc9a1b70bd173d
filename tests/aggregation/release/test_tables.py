"""What people see: suppressed rows, derived columns, published columns, intervals."""

from decimal import Decimal

import numpy as np
import pytest

from aggregation.protocol.anonymization import GRID, ClipTerms, Suppression
from aggregation.protocol.server_config import Derived
from aggregation.release.estimates import cell_estimates
from aggregation.release.marginals import marginal
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe
from aggregation.release.suppression import is_asked
from aggregation.release.tables import chunks, published_columns, table
from tests.aggregation.release.examples import (
    DOMAINS,
    KINDS,
    clip_uncertainty,
    recipe,
    report_of,
    some_sums,
)

KM_PER_TRIP = Derived(name="km_per_trip", numerator="distance_km", denominator="num_trips")


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_kept_iff_every_metric_passes(kind: str) -> None:
    made = recipe(kind)
    estimates = cell_estimates(Noised(some_sums(made, devices=400)), made)
    least = estimates.law.noise.mean_abs[estimates.classes] / 0.05
    found = table(estimates, made.config)
    kept = (estimates.values >= least).all(axis=1)
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(found.reasons == 0, kept)
    for column in found.columns:
        np.testing.assert_array_equal(np.isfinite(column.values), kept)
        np.testing.assert_array_equal(np.isfinite(column.half_width), kept)


def test_negative_values_are_suppressed_and_the_first_reason_is_told() -> None:
    made = recipe()
    sums = np.full(made.shape, 10**10)
    sums[0] = -(10**10)
    sums[1, 2] = 0
    found = table(cell_estimates(Noised(sums), made), made.config)
    told = [found.sentences[r] for r in found.reasons[:3]]
    assert told == [
        "The noise is more than 5 % of num_trips.",
        "The noise is more than 5 % of duration_min.",
        "",
    ]


def test_no_empty_cell_gets_through() -> None:
    """|Z| above 20 times its mean has probability 2e-9: with 120,000 cells, one run in 4,000."""
    regions = tuple(map(str, range(30_000)))
    made = recipe(domains={**DOMAINS, "region": regions})
    noised = add_noise(report_of(np.zeros(made.shape)), made)
    assert (table(cell_estimates(noised, made), made.config).reasons > 0).all()


def test_only_named_metrics_are_asked() -> None:
    made = recipe(suppression=Suppression(max_relative_noise=0.05, metrics=("num_trips",)))
    sums = np.zeros(made.shape, dtype=np.int64)
    sums[:, 0] = 10**10
    found = table(cell_estimates(Noised(sums), made), made.config)
    assert (found.reasons == 0).all()
    assert not is_asked(Suppression(metrics="num_trips"), "trips")


def test_a_marginal_has_its_own_suppression() -> None:
    """Each cell is lost in its noise, their sum is not."""
    made = recipe()
    sums = np.full(made.shape, int(8 * GRID))
    noised = Noised(sums)
    assert (table(cell_estimates(noised, made), made.config).reasons > 0).all()
    assert (table(marginal(noised, made, ()), made.config).reasons == 0).all()


def test_hidden_and_unpublished_columns_are_gone() -> None:
    config = recipe(
        hidden=("duration_min",), derived=(KM_PER_TRIP,), publish_columns=("region", "km_per_trip")
    ).config
    assert published_columns(config) == ("km_per_trip",)
    hidden = recipe(hidden=("duration_min",)).config
    assert published_columns(hidden) == ("num_trips", "distance_km")


def test_a_ratio_goes_with_its_denominator() -> None:
    made = recipe(
        derived=(KM_PER_TRIP,),
        suppression=Suppression(max_relative_noise=0.05, metrics=("distance_km",)),
    )
    sums = np.full(made.shape, 10**10)
    sums[0, 0] = 10**6
    found = table(cell_estimates(Noised(sums), made), made.config)
    assert (found.reasons == 0).all()
    assert np.isnan(found.column("km_per_trip").values[0])
    assert np.isfinite(found.column("km_per_trip").values[1:]).all()
    trips, km = found.column("num_trips").values[1:], found.column("distance_km").values[1:]
    np.testing.assert_allclose(found.column("km_per_trip").values[1:], km / trips)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relative_noise", [0.05, 0.5])
def test_a_ratio_s_interval_covers(kind: str, relative_noise: float) -> None:
    """8,000 cells at the edge of suppression: 94 to 98.5 % cover (Fieller's is a little wide)."""
    domains = {"region": tuple(map(str, range(4000))), "activity": ("walking", "driving"),
               "direction": ("within",)}  # fmt: skip
    made = recipe(
        kind, derived=(KM_PER_TRIP,), domains=domains,
        suppression=Suppression(max_relative_noise=relative_noise, metrics=("num_trips",)),
    )  # fmt: skip
    law = cell_estimates(Noised(np.zeros(made.shape, dtype=np.int64)), made)
    wanted = 1.6 * law.law.noise.mean_abs[law.classes] / relative_noise
    undone = np.linalg.solve(_decoding(made)[law.classes], wanted[:, :, None])
    sums = np.rint(undone[:, :, 0]).astype(np.int64)
    truth = made.arithmetic.decode(sums)
    found = table(cell_estimates(add_noise(report_of(sums), made), made), made.config)
    ratio = found.column("km_per_trip")
    kept = np.isfinite(ratio.values)
    assert kept.mean() > 0.5
    error = np.abs(ratio.values - truth[:, 1] / truth[:, 0])
    assert 0.94 < (error <= ratio.half_width)[kept].mean() < 0.985


def _decoding(made: Recipe) -> np.ndarray:
    decoding = made.arithmetic.decoding
    return decoding if decoding.ndim == 3 else decoding[:, :, None] * np.eye(3)


def test_the_interval_is_noise_and_clipping_in_quadrature() -> None:
    clip = clip_uncertainty(0.9)
    clip.metrics["num_trips"] = ClipTerms(random=Decimal("0.5"))
    made = recipe("rotated", derived=(KM_PER_TRIP,), clip_uncertainty=clip)
    noised = Noised(some_sums(made, devices=20_000))
    found = table(cell_estimates(noised, made), made.config)
    trips, km = found.column("num_trips"), found.column("distance_km")
    np.testing.assert_allclose(km.clip_uncertainty, 0.9 * km.values / np.sqrt(trips.values))
    np.testing.assert_allclose(km.half_width**2, km.noise_half_width**2 + km.clip_uncertainty**2)
    assert (km.half_width > km.noise_half_width)[found.reasons == 0].all()
    assert np.nanmax(np.abs(km.clip_correction - 0.15)) < 1e-12
    ratio = found.column("km_per_trip")
    expected = ratio.values * np.sqrt(0.9**2 + 0.5**2) / np.sqrt(trips.values)
    np.testing.assert_allclose(ratio.clip_uncertainty, expected)


def test_a_systematic_share_does_not_shrink_with_events() -> None:
    made = recipe("rotated", clip_uncertainty=clip_uncertainty(0.9, systematic=0.02))
    found = table(cell_estimates(Noised(some_sums(made, devices=20_000)), made), made.config)
    trips, km = found.column("num_trips"), found.column("distance_km")
    expected = km.values * np.sqrt(0.9**2 / trips.values + 0.02**2)
    np.testing.assert_allclose(km.clip_uncertainty, expected)


def test_without_a_fit_there_is_no_clip_uncertainty() -> None:
    made = recipe()
    found = table(cell_estimates(Noised(some_sums(made)), made), made.config)
    assert all(c.clip_uncertainty is None for c in found.columns)
    for column in found.columns:
        np.testing.assert_array_equal(column.half_width, column.noise_half_width)
        assert set(column.clip_correction[found.reasons == 0].tolist()) == {0.0}


def test_chunks_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    made = recipe(derived=(KM_PER_TRIP,))
    estimates = cell_estimates(Noised(some_sums(made)), made)
    whole = table(estimates, made.config)
    monkeypatch.setattr("aggregation.release.tables.CHUNK", 5)
    pieces = list(chunks(estimates, made.config))
    assert [len(p) for p in pieces] == [5, 5, 5, 1]
    assert [p.first for p in pieces] == [0, 5, 10, 15]
    for name in published_columns(made.config):
        joined = np.concatenate([p.column(name).half_width for p in pieces])
        np.testing.assert_array_equal(joined, whole.column(name).half_width)
