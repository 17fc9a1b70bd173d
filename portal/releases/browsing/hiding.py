"""What a page leaves out because noise would drown it: how many numbers, which, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hidden:
    """Names by the reason that they share."""

    reasons: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]]) -> Hidden:
        """Pairs of a name and its reason."""
        found: dict[str, list[str]] = {}
        for name, why in named:
            found.setdefault(why.rstrip("."), []).append(name)
        return cls(tuple((why, tuple(names)) for why, names in found.items()))

    def __len__(self) -> int:
        return sum(len(names) for _, names in self.reasons)
