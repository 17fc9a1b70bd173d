"""Noise over made-up sums, from a seed: a comparison can be run again to its last digit.

Whoever knows the seed of a release's noise can take the noise off, so no release may ever have one.
That this source cannot reach one is so by construction:

- it is a function that gives an array, and no `Draws` that `release.noise.add_noise` could take;
- it stands in `portal.lab`, which neither `aggregation` nor `portal.releases` may import, and of
  the lab only `comparing` may import it: import contracts say so, and a test breaks each of them;
- `release.laplace` and `release.randomness`, which releases draw from, still take no key and no
  seed from anybody.

The law is theirs: the difference of two geometric numbers of decay a has
P(Z = z) = (1 − e^−a) / (1 + e^−a) · e^−a|z|. It is drawn with floats, which suits sums of people
who do not exist, and nobody else's: a float's grid gives away what was added (`release.laplace`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aggregation.protocol.anonymization import GRID
from aggregation.protocol.part import Integers

# Values of ε that differ by less share their draws.
_STEP = 1e-6


def seeded_noise(epsilon: float, shape: tuple[int, ...], *, seed: Sequence[int]) -> Integers:
    """Independent draws at this ε, in grid units; the same seed gives the same."""
    rng = np.random.default_rng([*seed, round(epsilon / _STEP)])
    chance = -np.expm1(-epsilon / GRID)
    drawn: Integers = rng.geometric(chance, shape) - rng.geometric(chance, shape)
    return drawn
