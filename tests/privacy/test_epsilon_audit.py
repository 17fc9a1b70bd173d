"""The ε audit: correct releases stay below their ε on every data set, broken ones are caught.

Samples are independent releases; half of them choose an event and half test it, with intervals of
99.9 % on each side. A correct release is flagged with probability at most 0.2 % per data set
(less: the bound for a correct one is about 0.9 at ε = 1, and 0.5 to 0.8 where ε is split over four
coordinates). A mutant is missed far more rarely: the closest, a fifth less noise, has a bound of
1.13 ± 0.03 at everyday size. Everyday noise is the same each day (`same_noise`).
"""

import numpy as np
import pytest

from tests.privacy.lower_bound import epsilon_lower_bound
from tests.privacy.mutants import MUTANTS
from tests.privacy.releases import MECHANISMS, neighbours, released, small, summed, wide


@pytest.fixture(scope="module")
def count(size: str) -> int:
    return 16_000 if size == "everyday" else 80_000


@pytest.mark.parametrize("place", range(3), ids=["far", "edge", "empty"])
@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_correct_release_keeps_its_epsilon(kind: str, place: int, count: int) -> None:
    data, made = neighbours(kind)[place], small(kind)
    many = wide(kind, count)
    without = released(many, summed(made, data.others), count)
    with_it = released(many, summed(made, [*data.others, data.device]), count)
    bound, event = epsilon_lower_bound(without, with_it)
    assert bound < 1.0, event
    # It finds much of the ε that is there, or its silence would mean nothing.
    assert np.abs(data.device.values).sum() > 2**20 - 16
    assert bound > 0.4, event


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_release_is_flagged(name: str, count: int) -> None:
    place, mutant = MUTANTS[name]
    data, made = neighbours("group_scaling")[place], small("group_scaling")
    without, with_it = (mutant(made, data, has, count) for has in (False, True))
    bound, event = epsilon_lower_bound(without, with_it)
    assert bound > 1.0, event


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= 12
