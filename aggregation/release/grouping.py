"""Groupings: how the values of a key fall into larger groups, such as regions into countries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aggregation.protocol.domains import Domain
from aggregation.protocol.part import Integers
from aggregation.protocol.ranks import Cells


@dataclass(frozen=True, eq=False)
class Grouping:
    """How the values of one key fall into groups: regions into countries."""

    # The name the groups go by, and the key whose values they group.
    name: str
    key: str
    groups: Domain
    # The group of each value of the key, by their places in the domains.
    group_of: Integers

    @classmethod
    def by(cls, name: str, key: str, names: Sequence[str]) -> Grouping:
        """`names` has the group of each value of the key, in the order of its domain."""
        groups = sorted(set(names))
        places = {group: place for place, group in enumerate(groups)}
        return cls(name, key, Domain(groups), np.array([places[n] for n in names], dtype=np.int64))

    def applies_to(self, names: Sequence[str]) -> bool:
        """Groups are for keys that are there, unless they are a key of their own already."""
        return self.key in names and self.name not in names

    def replaced_in(self, cells: Cells) -> Cells:
        """The cells with the groups in the key's place."""
        names = tuple(self.name if n == self.key else n for n in cells.names)
        pairs = zip(cells.names, cells.domains, strict=True)
        return Cells(names, tuple(self.groups if n == self.key else d for n, d in pairs))
