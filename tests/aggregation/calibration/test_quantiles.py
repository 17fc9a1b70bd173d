"""Quantiles of noised histograms: right within a bucket, refused where too little is known."""

import numpy as np
import pytest

from aggregation.calibration.quantiles import (
    ENOUGH,
    FittedScales,
    fit_clip,
    fit_scales,
    read_quantile,
    usual_quantile,
)
from aggregation.errors import Problem
from aggregation.protocol.part import Floats
from aggregation.protocol.steps import BUCKETS, LOWEST_SCALED, buckets_of

BUCKET = 2**0.25
LOWEST = {"trips": 1 / 16, "km": 1 / 64}


def noised(counts: Floats, epsilon: float, seed: int = 1) -> Floats:
    """As a release has them: a device is 1, the noise has scale 1/ε."""
    rng = np.random.default_rng(seed)
    return counts + rng.laplace(0, 1 / epsilon, counts.shape)


def counted(norms: Floats, lowest: float, weight: float = 1.0) -> Floats:
    places = buckets_of(norms, np.array(lowest))
    return np.bincount(places, minlength=BUCKETS).astype(float) * weight


def crowd(devices: int, median: float, spread: float = 0.9, seed: int = 2) -> Floats:
    return np.random.default_rng(seed).lognormal(np.log(median), spread, devices)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
@pytest.mark.parametrize("quantile", [0.95, 0.98, 0.9975])
def test_a_clip_is_right_within_a_bucket(epsilon: float, quantile: float) -> None:
    norms = crowd(int(1.2 * ENOUGH / epsilon), median=0.8)
    counts = noised(counted(norms, LOWEST_SCALED), epsilon)
    fitted = fit_clip(counts, epsilon=epsilon, quantile=quantile)
    assert 1 / BUCKET < fitted.clip / np.quantile(norms, quantile) < BUCKET
    assert fitted.devices == pytest.approx(len(norms), rel=0.01)


def scales_of(sizes: dict[str, int], epsilon: float = 1.0, **given: object) -> FittedScales:
    """Slices with so many devices, each of which has both metrics: it counts half in each."""
    counts = np.array(
        [
            [
                counted(crowd(devices, 10 * (s + 1) * (m + 1)), low, 0.5)
                for m, low in enumerate(LOWEST.values())
            ]
            for s, devices in enumerate(sizes.values())
        ]
    )
    usual: dict[str, object] = {"lowest": LOWEST, "present": {}, "slices": list(sizes)}
    return fit_scales(noised(counts, epsilon), epsilon=epsilon, **{**usual, **given})  # type: ignore[arg-type]


def test_scales_are_right_within_a_bucket() -> None:
    fitted = scales_of({"car": 90_000, "bus": 30_000, "boat": 2_000})
    for s, (name, devices) in enumerate({"car": 90_000, "bus": 30_000, "boat": 2_000}.items()):
        for m, metric in enumerate(LOWEST):
            truth = np.quantile(crowd(devices, 10 * (s + 1) * (m + 1)), 0.95)
            assert 1 / BUCKET < fitted.scales[name][metric] / truth < BUCKET
    assert fitted.thin == ()
    assert fitted.devices == pytest.approx(122_000, rel=0.01)


def test_a_slice_with_few_devices_keeps_its_scale_or_borrows_the_largest() -> None:
    sizes = {"car": 120_000, "balloon": 20}
    borrowed = scales_of(sizes)
    assert borrowed.thin == (("balloon", "trips"), ("balloon", "km"))
    assert borrowed.scales["balloon"] == borrowed.scales["car"]
    kept = scales_of(sizes, present={"balloon": {"trips": 3.0, "km": 7.5}})
    assert kept.scales["balloon"] == {"trips": 3.0, "km": 7.5}
    assert kept.thin == borrowed.thin


def test_too_little_is_refused_with_what_was_reached() -> None:
    counts = noised(counted(crowd(40_000, 1.0), LOWEST_SCALED), 0.5)
    with pytest.raises(Problem, match="ε · N is about 20,000, and 100,000 are needed") as refused:
        fit_clip(counts, epsilon=0.5, quantile=0.98)
    assert "Reach 200,000 devices" in refused.value.hint
    with pytest.raises(Problem, match="about < 1,000 devices"):
        fit_clip(noised(np.zeros(BUCKETS), 8.0), epsilon=8.0, quantile=0.98)


def test_enough_is_what_epsilon_times_devices_says() -> None:
    counts = np.zeros(BUCKETS)
    counts[40] = ENOUGH / 2
    assert fit_clip(counts, epsilon=2.0, quantile=0.98).devices == ENOUGH / 2
    counts[40] -= 1
    with pytest.raises(Problem, match="needed"):
        fit_clip(counts, epsilon=2.0, quantile=0.98)


def test_buckets_that_may_be_noise_count_nothing() -> None:
    """Just below four noise scales in every bucket far out, and 1 in 1,000 of the weight there."""
    counts = np.zeros(BUCKETS)
    counts[40] = 200_000
    counts[45:75] = 3.9 / 0.5
    quiet = fit_clip(counts, epsilon=0.5, quantile=0.9995).clip
    assert quiet < LOWEST_SCALED * 2 ** (41 / 4)
    counts[45:75] = 4.1 / 0.5
    assert fit_clip(counts, epsilon=0.5, quantile=0.9995).clip > 20 * quiet


def test_a_bucket_far_from_the_crowd_is_taken_for_noise() -> None:
    """More than eight empty ones away: in a slice with few devices it would be the quantile."""
    counts = np.zeros((3, 1, BUCKETS))
    counts[:, 0, 40] = 2 * ENOUGH, 60, 60
    counts[1, 0, 49] = counts[2, 0, 50] = 10
    fitted = fit_scales(
        counts, epsilon=1.0, slices=["car", "near", "far"], lowest={"km": 1.0}, present={}
    )
    assert fitted.scales["near"]["km"] > 2 ** (49 / 4)
    assert fitted.scales["far"] == fitted.scales["car"]
    assert fitted.thin == ()


@pytest.mark.parametrize(("bucket", "words"), [(0, "lower"), (95, "higher")])
def test_a_quantile_at_an_end_is_none(bucket: int, words: str) -> None:
    weights = np.zeros(BUCKETS)
    weights[bucket] = 10.0
    with pytest.raises(Problem, match="bucket") as refused:
        read_quantile(weights, 1.0, 0.95, what="km in car")
    assert words in refused.value.hint


def test_inside_a_bucket_it_is_even_on_the_log_scale() -> None:
    weights = np.zeros(BUCKETS)
    weights[[4, 8]] = 50.0
    assert read_quantile(weights, 1.0, 0.5, what="") == pytest.approx(2**1.25)
    assert read_quantile(weights, 1.0, 0.75, what="") == pytest.approx(2**2.125)
    assert read_quantile(weights, 1.0, 0.25, what="") == pytest.approx(2**1.125)


def test_the_clip_s_quantile_goes_with_epsilon() -> None:
    assert [usual_quantile(e) for e in (0.5, 1, 2)] == pytest.approx([0.99, 0.995, 0.9975])
    assert usual_quantile(0.01) == 0.95
