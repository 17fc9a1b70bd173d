"""Marginals are the sums of all noised cells, with the law of the noise that they add up."""

import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.protocol.anonymization import GroupScaling, Rotated
from aggregation.release.estimates import cell_estimates
from aggregation.release.grouping import Grouping
from aggregation.release.marginals import marginal, marginals, subsets
from aggregation.release.noise import add_noise
from aggregation.release.noised import Noised
from tests.aggregation.release.examples import (
    DOMAINS,
    KINDS,
    METRICS,
    recipe,
    report_of,
    some_sums,
)

COUNTRIES = ["DE", "FR", "FR", "DE"]
BY_COUNTRY = Grouping.by("country", "region", COUNTRIES)


def _rows(names: tuple[str, ...]) -> list[np.ndarray]:
    """Boolean masks of the cells of each row, written out the slow way."""
    columns = {"country": ("DE", "FR"), **DOMAINS}
    cells = [
        {"region": r, "activity": a, "direction": d, "country": COUNTRIES[i]}
        for i, r in enumerate(DOMAINS["region"])
        for a in DOMAINS["activity"]
        for d in DOMAINS["direction"]
    ]
    wanted = np.array(np.meshgrid(*(range(len(columns[n])) for n in names), indexing="ij"))
    rows = wanted.reshape(len(names), -1).T if names else [[]]
    return [
        np.array([all(c[n] == columns[n][v] for n, v in zip(names, row, strict=True))
                  for c in cells])
        for row in rows
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_the_sum_of_its_noised_cells(kind: str) -> None:
    made = recipe(kind)
    noised = add_noise(report_of(some_sums(made)), made)
    cells = cell_estimates(noised, made)
    found = list(marginals(noised, made, grouping=BY_COUNTRY))
    assert len(found) == 11
    for one in found:
        masks = _rows(one.cells.names)
        assert one.cells.size == len(one.values) == len(masks)
        expected = np.array([cells.values[mask].sum(axis=0) for mask in masks])
        np.testing.assert_allclose(one.values, expected, rtol=1e-12, atol=1e-9)


def test_integers_are_added_before_decoding_so_that_the_sum_is_exact() -> None:
    """Powers of two decode without rounding: the marginal is the sum, to the last bit."""
    scales = {a: dict.fromkeys(METRICS, 1.0) for a in DOMAINS["activity"]}
    made = recipe(mechanism=GroupScaling(scale_by=("activity",), scales=scales, clip=2.0))
    sums = np.random.default_rng(5).integers(-(2**50), 2**50, size=made.shape)
    for by in subsets(made, BY_COUNTRY):
        one = marginal(Noised(sums), made, by, grouping=BY_COUNTRY)
        exact = [[int(v) for v in sums[mask].sum(axis=0)] for mask in _rows(one.cells.names)]
        assert (one.values * 2**19).tolist() == exact


@pytest.mark.parametrize("kind", KINDS)
def test_its_half_width_is_that_of_all_its_cells(kind: str) -> None:
    """Empty cells, 4,000 releases: 95 % lie within, ±1.8 points (five standard errors)."""
    made, count = recipe(kind), 4000
    wide = recipe(kind, domains={"release": tuple(map(str, range(count))), **DOMAINS})
    noised = add_noise(report_of(np.zeros(wide.shape)), wide)
    for by in (("activity",), ("region", "direction"), ("country", "activity"), ()):
        law = marginal(Noised(noised.sums[: made.cells.size]), made, by, grouping=BY_COUNTRY)
        many = marginal(noised, wide, ("release", *by), grouping=BY_COUNTRY)
        values = many.values.reshape(count, len(law.values), -1)
        width = law.law.noise.half_width[law.classes]
        covered = (np.abs(values) <= width).mean(axis=0)
        assert np.abs(covered - 0.95).max() < 0.018
        mean = law.law.noise.mean_abs[law.classes]
        np.testing.assert_allclose(np.abs(values).mean(axis=0), mean, rtol=0.1)
        spread = np.cov(values[:, 0].T)
        np.testing.assert_allclose(spread, law.law.covariance[law.classes[0]], rtol=0.2, atol=1e-6
                                   + 0.1 * np.abs(spread).max())  # fmt: skip


def test_slices_by_the_grouped_key_are_grouped_after_decoding() -> None:
    scales = {r: dict.fromkeys(METRICS, 1.0 + i) for i, r in enumerate(DOMAINS["region"])}
    made = recipe(mechanism=GroupScaling(scale_by=("region",), scales=scales, clip=2.0))
    noised = Noised(some_sums(made))
    cells = cell_estimates(noised, made).values.reshape(4, 4, 3).sum(axis=1)
    one = marginal(noised, made, ("country",), grouping=BY_COUNTRY)
    np.testing.assert_allclose(one.values[0], cells[0] + cells[3])
    np.testing.assert_allclose(one.values[1], cells[1] + cells[2])
    law = cell_estimates(noised, made).law
    np.testing.assert_allclose(
        one.law.covariance[one.classes[0]], 4 * (law.covariance[0] + law.covariance[3])
    )


def test_the_correction_of_a_sum_is_what_it_added() -> None:
    made = recipe("rotated")
    assert isinstance(made.config.mechanism, Rotated)
    plain = recipe(mechanism=Rotated(
        made.config.mechanism.by, made.config.mechanism.basis,
        dict.fromkeys(DOMAINS["activity"], (1.0, 1.0, 1.0)),
    ))  # fmt: skip
    noised = Noised(some_sums(made))
    for by in (("region",), ("activity",), ()):
        with_rho, without = marginal(noised, made, by), marginal(noised, plain, by)
        np.testing.assert_allclose(with_rho.values, without.values * (1 + with_rho.correction))
    np.testing.assert_allclose(
        marginal(noised, made, ("activity",)).correction[0], [0.1, 0.15, 0.1]
    )


def test_subsets_are_all_of_them_once() -> None:
    found = subsets(recipe(), BY_COUNTRY)
    assert len(set(found)) == len(found) == 11
    assert found[0] == ("country", "activity", "direction")
    assert found[-1] == ()
    assert ("region", "activity", "direction") not in found
    assert len(subsets(recipe())) == 7


def test_a_task_that_has_countries_needs_no_grouping() -> None:
    domains = {"country": ("DE", "FR"), "activity": DOMAINS["activity"]}
    assert subsets(recipe(domains=domains), BY_COUNTRY) == subsets(recipe(domains=domains))


@pytest.mark.parametrize("by", [("nowhere",), ("region", "region"), ("country",)])
def test_it_refuses_what_is_no_marginal(by: tuple[str, ...]) -> None:
    with pytest.raises(Problem, match="no marginal by"):
        marginal(Noised(some_sums(recipe())), recipe(), by)


def test_it_refuses_groups_of_another_domain() -> None:
    grouping = Grouping.by("country", "region", ["DE", "FR"])
    with pytest.raises(Problem, match="not of this task's domain"):
        marginal(Noised(some_sums(recipe())), recipe(), ("country",), grouping=grouping)
