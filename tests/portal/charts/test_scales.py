"""Axes and colour steps: round, and holding whatever comes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from portal.charts.ramps import STEPS, ramp_for
from portal.charts.scales import axis_for

NUMBERS = st.floats(-1e15, 1e15).map(lambda one: 0.0 if abs(one) < 1e-9 else one)
POSITIVE = st.floats(1e-6, 1e15)


@given(st.lists(NUMBERS))
def test_a_linear_axis_holds_all_values_and_zero(values: list[float]) -> None:
    axis = axis_for(values, first=10, last=110)
    assert axis.low <= min([0.0, *values])
    assert axis.high >= max([0.0, *values])
    assert 0.0 in axis.ticks
    assert 1 <= len(axis.ticks) <= 8
    for tick in axis.ticks:
        assert 10 <= axis.at(tick) <= 110


@given(st.lists(POSITIVE, min_size=1))
def test_a_log_axis_holds_all_values_between_powers_of_ten(values: list[float]) -> None:
    axis = axis_for(values, first=0, last=100, log=True)
    assert axis.low <= min(values) * (1 + 1e-9)
    assert axis.high >= max(values) * (1 - 1e-9)
    assert 2 <= len(axis.ticks) <= 8


def test_values_just_below_zero_do_not_cost_a_whole_step() -> None:
    axis = axis_for([-0.1, 12.0], first=0, last=100)
    assert axis.low == -0.1
    assert axis.ticks[0] == 0


@given(st.lists(NUMBERS, min_size=1), st.booleans())
def test_every_value_has_one_of_the_colours_and_larger_ones_never_a_lighter(
    values: list[float], diverging: bool
) -> None:
    ramp = ramp_for(values, diverging=diverging)
    assert len(ramp.colours) <= STEPS
    assert all(low < high for low, high in pairwise(ramp.limits))
    colours = [ramp.colour(value) for value in sorted(values)]
    assert colours == sorted(colours)


@given(st.lists(POSITIVE, min_size=2))
def test_growing_steps_have_limits_that_can_be_written(values: list[float]) -> None:
    ramp = ramp_for(values)
    assert len(set(ramp.words)) == len(ramp.words) or max(values) < 30 * min(values)


def test_colours_part_nothing_that_noise_could_have_parted() -> None:
    assert ramp_for([28.6, 32.0, 34.5], least=5.0).limits == ()
    assert ramp_for([10.0, 32.0, 58.0], least=6.0).limits == (20.0, 30.0, 40.0, 50.0)


def test_no_change_is_in_the_middle_of_a_diverging_ramp() -> None:
    ramp = ramp_for([-10.0, 2.0, 30.0], diverging=True, sign="%")
    assert ramp.colour(0.0) == "d4"
    assert ramp.limits == tuple(-one for one in reversed(ramp.limits))
    assert ramp.words[0].startswith("−")
    assert ramp.words[0].endswith(" %")


def test_ticks_are_written_without_exponents() -> None:
    from portal.charts.scales import _plain

    written = [_plain(value) for value in (0.00005, -0.000025, 0.1, 0.0, 2500.0, 3e10)]
    assert written == ["0.00005", "−0.000025", "0.1", "0", "2,500", "30,000,000,000"]
