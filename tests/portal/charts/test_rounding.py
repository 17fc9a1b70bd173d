"""One rule for numbers with intervals: two digits of the half-width, and the same place for all."""

import math

import pytest

from portal.charts.rounding import ends, magnitude, places_of, signed, span, written


@pytest.mark.parametrize(
    ("half_width", "told"),
    [
        (1850, "1,900"),
        (312, "310"),
        (9.96, "10"),
        (9.94, "9.9"),
        (3, "3.0"),
        (0.0996, "0.10"),
        (0, "0"),
        (math.inf, "∞"),
    ],
)
def test_a_half_width_has_two_digits(half_width: float, told: str) -> None:
    assert written(half_width, places_of(half_width)) == told


def test_nothing_is_minus_zero() -> None:
    assert [written(-0.4, 0), written(-0.0, 2), signed(-0.04, 1)] == ["0", "0.00", "0.0"]


def test_a_difference_has_a_sign() -> None:
    assert [signed(12.3, 0), signed(-12.3, 0), signed(0.2, 0)] == ["+12", "−12", "0"]


def test_the_ends_of_an_interval_are_those_of_the_numbers_beside_it() -> None:
    """Of 4,430 ± 1,850 as it is written: 4,400 ± 1,900."""
    assert ends(4430, 1850) == ("2,500", "6,300")


def test_halves_are_rounded_as_people_do() -> None:
    assert [written(2.5, 0), written(-2.5, 0), written(1.005, 2)] == ["3", "−3", "1.01"]


@pytest.mark.parametrize(
    ("value", "word"), [(999_999, ""), (1e6, "million"), (-2e9, "billion"), (math.inf, "")]
)
def test_from_a_million_on_there_is_a_word(value: float, word: str) -> None:
    assert magnitude(value)[2] == word


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (7.6, 138.2, "+8 to +138"),
        (-51.2, 12.0, "−51 to +12"),
        (0.3, 138.2, "+0.3 to +138.2"),
        (-138.2, -0.3, "−138.2 to −0.3"),
    ],
)
def test_an_end_of_a_clear_change_is_never_zero(low: float, high: float, told: str) -> None:
    assert span(low, high) == told
