"""Cells and their ranks: every combination of key values has one number, known before any data.

The rank is a mixed-radix number over the keys' domain indices, the first key most significant.
Devices and server agree on it because both build it from the same hashed domains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from aggregation.errors import Problem
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain, Value

DomainOf = Callable[[str], Domain]

# A rank travels as an unsigned 32-bit number.
MAX_CELLS = 2**32


@dataclass(frozen=True, eq=False)
class Cells:
    """The declared cells of a task: the product of its keys' domains."""

    names: tuple[str, ...]
    domains: tuple[Domain, ...]

    @classmethod
    def of(cls, keys: Sequence[Key], domain_of: DomainOf) -> Cells:
        """The cells of these keys; `domain_of` finds a stream's domain by its hash."""
        cells = cls(tuple(key.name for key in keys), tuple(_domain(key, domain_of) for key in keys))
        if cells.size > MAX_CELLS:
            raise Problem(
                f"The keys declare {cells.size:,} cells, more than ranks can number.",
                hint="Group by fewer or smaller columns.",
            )
        return cells

    @cached_property
    def counts(self) -> tuple[int, ...]:
        return tuple(len(domain) for domain in self.domains)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far apart the ranks of neighbouring values of each key are."""
        strides = [1]
        for count in reversed(self.counts[1:]):
            strides.append(strides[-1] * count)
        return tuple(reversed(strides)) if self.names else ()

    @property
    def size(self) -> int:
        return self.strides[0] * self.counts[0] if self.names else 1

    def rank(self, values: Sequence[object]) -> int:
        """The rank of one combination of values, −1 if any lies outside its domain."""
        rank = 0
        for value, (kind, places, stride) in zip(values, self._places, strict=True):
            # By type first: a dict takes 1.0 for 1, a domain does not.
            index = places.get(value, -1) if type(value) is kind else -1
            if index < 0:
                return -1
            rank += index * stride
        return rank

    def ranks(self, columns: Sequence[Sequence[object]]) -> NDArray[np.int64]:
        """The ranks of many combinations, given as one column of values per key."""
        if not self.names:
            raise Problem("A task without keys has one cell, which needs no ranks.")
        total = np.zeros(len(columns[0]), dtype=np.int64)
        outside = np.zeros(len(columns[0]), dtype=bool)
        for column, domain, stride in zip(columns, self.domains, self.strides, strict=True):
            indices = domain.indices(column)
            outside |= indices < 0
            total += indices * stride
        return np.where(outside, -1, total)

    def indices(self, ranks: NDArray[np.integer], key: str) -> NDArray[np.int64]:
        """The domain index that each of these cells has for one key."""
        at = self.names.index(key)
        return ranks.astype(np.int64) // self.strides[at] % self.counts[at]

    def values(self, rank: int) -> tuple[Value, ...]:
        """The key values of one cell."""
        places = zip(self.domains, self.strides, self.counts, strict=True)
        return tuple(domain[rank // stride % count] for domain, stride, count in places)

    @cached_property
    def _places(self) -> list[tuple[type, dict[object, int], int]]:
        return [
            (str if domain.is_text else int, _places_in(domain), stride)
            for domain, stride in zip(self.domains, self.strides, strict=True)
        ]


@lru_cache(maxsize=64)
def _places_in(domain: Domain) -> dict[object, int]:
    """Value → index, made once for all tasks with this domain."""
    return {value: index for index, value in enumerate(domain)}


def _domain(key: Key, domain_of: DomainOf) -> Domain:
    try:
        domain = Domain(key.values) if key.values is not None else domain_of(key.domain)
    except KeyError:
        raise Problem(
            f"The domain of {key.name} is not installed here.", hint="Install its stream."
        ) from None
    if len(domain) != key.count or domain.sha256 != key.domain:
        raise Problem(f"The domain of {key.name} is not the one the task names.")
    return domain
