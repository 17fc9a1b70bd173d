"""Sessions are chosen by load, and by lot where loads are about equal."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from portal.device_api.choosing import NEAR, choose_session
from portal.device_api.snapshot import OpenSession


def sessions(*loads: float) -> list[OpenSession]:
    return [OpenSession(f"{n:032x}", "", "", load) for n, load in enumerate(loads)]


def test_it_takes_the_least_loaded():
    rng = random.Random(1)
    assert choose_session(sessions(0.9, 0.2, 0.6), rng).load == 0.2


def test_among_equals_it_is_a_lottery():
    """4,000 draws from 4: a share outside 850 to 1,150 has a probability below 1e-6."""
    rng = random.Random(1)
    drawn = Counter(
        choose_session(sessions(0.3, 0.32, 0.35, 0.39, 0.5), rng).id for _ in range(4000)
    )
    assert len(drawn) == 4
    assert all(850 < count < 1150 for count in drawn.values())


def test_full_ones_are_left_alone():
    assert choose_session(sessions(1.0, 1.2), random.Random(1)) is None
    assert choose_session([], random.Random(1)) is None
    assert choose_session(sessions(1.0, 0.99), random.Random(1)).load == 0.99


@given(st.lists(st.floats(0, 2), max_size=8), st.integers())
def test_whoever_is_chosen_is_nearly_the_least_loaded(loads, seed):
    chosen = choose_session(sessions(*loads), random.Random(seed))
    if chosen is None:
        assert all(load >= 1 for load in loads)
    else:
        assert chosen.load < 1
        assert chosen.load <= min(loads) + NEAR
