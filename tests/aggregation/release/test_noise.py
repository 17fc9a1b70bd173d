"""Noise goes on every declared coordinate, in place, for every mechanism, at the approved ε."""

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import aggregation.release.noise
from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID
from aggregation.release.noise import add_noise
from tests.aggregation.release.examples import KINDS, Silent, recipe, report_of, some_sums
from tests.aggregation.release.fit import p_value

REGIONS = tuple(str(n) for n in range(5000))


@pytest.mark.parametrize("kind", KINDS)
def test_every_coordinate_is_noised_at_the_same_scale(kind: str) -> None:
    """60,000 empty coordinates: the noise fits K/ε by χ² (false alarm 1e-4), ±5 % does not."""
    made = recipe(kind, epsilon="0.77", domains={"region": REGIONS, "activity": ("walking",
                  "driving"), "direction": ("within", "outbound")})  # fmt: skip
    noised = add_noise(report_of(np.zeros(made.shape)), made)
    decay = Fraction("0.77") / GRID
    assert noised.sums.shape == made.shape
    # A draw is 0 with probability 4e-7.
    assert (noised.sums == 0).sum() < 5
    flat = noised.sums.reshape(-1)
    assert p_value(flat, decay) > 1e-4
    assert p_value(flat, decay, scale=1.05) < 1e-4
    assert p_value(flat, decay, scale=0.95) < 1e-4
    for metric in range(3):
        assert p_value(noised.sums[:, metric], decay) > 1e-4


def test_each_chunk_has_noise_of_its_own_to_the_last_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """48 empty coordinates: one that is 0, or two alike, are a false alarm of 3e-6."""
    monkeypatch.setattr(aggregation.release.noise, "_CHUNK", 7)
    made = recipe(epsilon="0.01")
    flat = add_noise(report_of(np.zeros(made.shape)), made).sums.ravel()
    assert flat.all()
    assert len(np.unique(flat)) == len(flat)


def test_the_sums_are_taken_over() -> None:
    made = recipe()
    sums = some_sums(made)
    report, before = report_of(sums), sums.copy()
    noised = add_noise(report, made)
    assert noised.sums is report.sums
    assert (noised.sums != before).mean() > 0.99


def test_without_noise_the_sums_stay() -> None:
    made = recipe()
    sums = some_sums(made)
    report, before = report_of(sums), sums.copy()
    np.testing.assert_array_equal(add_noise(report, made, draws=Silent()).sums, before)


def test_two_windows_have_different_noise() -> None:
    made = recipe()
    one, other = (add_noise(report_of(np.zeros(made.shape)), made).sums for _ in range(2))
    assert (one != other).all()


def test_it_refuses_sums_of_another_task() -> None:
    made = recipe()
    for sums in (np.zeros((3, 3)), np.zeros((made.shape[0], 2))):
        with pytest.raises(Problem, match="not of the cells and metrics"):
            add_noise(report_of(sums), made)
    fixed = report_of(np.zeros(made.shape))
    fixed.sums.flags.writeable = False
    with pytest.raises(Problem, match="where they stand"):
        add_noise(fixed, made)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "two", "1/0"])
def test_it_refuses_what_is_no_epsilon(epsilon: str) -> None:
    with pytest.raises(Problem, match="no ε"):
        recipe(epsilon=epsilon)


def test_no_code_but_tests_chooses_the_draws() -> None:
    """The one way to turn noise off is an argument that only tests give."""
    root = Path(aggregation.release.noise.__file__).parents[2]
    for folder in ("aggregation", "portal", "devices_sim"):
        for path in (root / folder).rglob("*.py"):
            calls = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call))
            given = [c.lineno for c in calls if any(k.arg == "draws" for k in c.keywords)]
            assert not given, f"{path}:{given}"
