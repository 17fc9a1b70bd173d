"""Numbers in sentences: digits that the interval bears, and changes that are more than noise."""

import math

import numpy as np
import pytest

from portal.releases.browsing import words
from portal.releases.browsing.change import Change
from portal.releases.browsing.measuring import scaled, share
from portal.releases.browsing.units import spoken
from portal.releases.reading import Number
from portal.releases.templatetags.release_words import interval


def number(value: float | None, half_width: float | None = None) -> Number:
    return Number("distance_km", value, half_width, half_width, 0.0, None, ())


@pytest.mark.parametrize(
    ("value", "half_width", "said"),
    [
        (12_412_345, 312_345, "12.41 ± 0.31 million km"),
        (999, 12, "999 ± 12 km"),
        (-1_500_000_000, 2e8, "−1.50 ± 0.20 billion km"),
        (0, 0, "0 ± 0 km"),
        (0.0123, 0.0012, "0.0123 ± 0.0012 km"),
        (5, 1e7, "0 ± 10,000,000 km"),
        (5, math.inf, "5 ± ∞ km"),
        (None, None, "not shown"),
    ],
)
def test_an_amount_has_the_digits_its_interval_bears(value, half_width, said):
    assert words.amount(number(value, half_width), "km") == said


def test_a_change_is_clear_only_beyond_the_noise_of_both():
    before, now = number(100, 3), number(104.9, 4)
    assert not Change.between(before, now).is_clear
    assert Change.between(before, number(105.1, 4)).is_clear
    assert Change.between(before, now).half_width == 5


def test_noise_alone_is_called_clear_no_more_often_than_it_should():
    """Laplace noise on two equal sums: at most one pair in twenty is called different."""
    rng, width = np.random.default_rng(7), math.log(20)
    called = [
        Change.between(number(a, width), number(b, width)).is_clear
        for a, b in rng.laplace(size=(20_000, 2))
    ]
    assert 0.03 < sum(called) / len(called) < 0.05


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (100, 97, "no clear difference from the week before: what there is could be noise alone"),
        (100, 80, "20 % less than the week before; the change is larger than the noise"),
        (100, 109, "9.0 % more than the week before; the change is larger than the noise"),
        (100, 300, "3.0 times as much as the week before; the change is larger than the noise"),
        (1, 100, "more than the week before; the change is larger than the noise"),
        (None, 100, "but the week before is not shown for it, so there is no comparison"),
    ],
)
def test_a_change_in_words(before, now, said):
    change = Change.between(number(before, 3), number(now, 3))
    assert words.compared(change, "the week before") == said


def test_a_share_is_wider_than_its_part_alone():
    part, whole = number(50, 3), number(200, 8)
    found = share(part, whole)
    assert found.value == 25
    assert found.half_width == pytest.approx(100 * math.hypot(3, 2) / 200)


def test_a_share_of_what_may_be_nothing_is_not_known():
    assert share(number(5, 1), number(6, 7)).value is None


@pytest.mark.parametrize(
    ("column", "unit", "said"),
    [
        ("distance_km", "km", "distance"),
        ("num_trips", "", "trips"),
        ("duration_min", "min", "duration"),
        ("co2e_kg", "kg CO₂e", "emissions"),
        ("km", "km", "km"),
    ],
)
def test_columns_in_plain_words(column, unit, said):
    assert spoken(column, unit) == said


def test_half_widths_have_no_sign():
    assert scaled(number(3.0, 2.0), -2.0).half_width == 4.0


def test_an_endless_interval_is_written_so():
    assert "± ∞" in interval(number(5.0, math.inf))
