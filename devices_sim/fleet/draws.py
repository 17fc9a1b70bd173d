"""Chance that is the same for the same question, in whatever order questions are asked.

Phones are drawn in blocks, so that numpy does the work: one generator for each block, week and
purpose. A block is always drawn whole, so a phone's life does not depend on how many others live.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

BLOCK: Final = 512
# Weeks before the scenario's first have numbers below 0; seeds have none.
_WEEKS_BEFORE: Final = 2**20


class Purpose(IntEnum):
    """What is drawn. A new one goes at the end: the others stay what they were."""

    PEOPLE = 0
    TRIPS = 1
    ASSISTANT_PEOPLE = 2
    ASSISTANT = 3
    PHONES = 4
    WAKE_UPS = 5
    UNUSUAL = 6
    HOMES = 7
    CONSENTS = 8


class Lot(NamedTuple):
    """Whose chance it is: a block of phones, in one week, or in all."""

    seed: int
    block: int
    week: int = 0

    def generator(self, purpose: Purpose) -> np.random.Generator:
        seed = (self.seed & 0xFFFFFFFF, self.seed >> 32)
        words = (*seed, purpose, self.block, self.week + _WEEKS_BEFORE)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words)))
