"""Which partials of a window are merged now: a tree, whose levels each take eight of the last.

A partial of level 1 waits for company for the rest of its UTC day. Then it is merged even if it is
alone: its key can go, and it would be lost with that key after three days, while the next level
lasts until the release. Sums are exact integers, so none of this changes a result, only how many
envelopes there are to open when the window closes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

# So many of one level make one of the next …
FAN_IN = 8
# … and no more at a time: one transaction touches so many rows.
MOST = 64


@dataclass(frozen=True)
class Waiting:
    """A stored partial, as far as the plan needs to know it."""

    id: str
    level: int
    key_day: date


@dataclass(frozen=True)
class Merge:
    """These partials of one level become one of the next."""

    level: int
    partials: tuple[str, ...]


def merges_due(waiting: Iterable[Waiting], *, today: date) -> list[Merge]:
    """What to merge of one window's stored partials; no partial is in two of them."""
    by_level: dict[int, list[Waiting]] = {}
    for one in waiting:
        by_level.setdefault(one.level, []).append(one)
    return [
        merge for level, found in sorted(by_level.items()) for merge in _of(level, found, today)
    ]


def _of(level: int, found: Sequence[Waiting], today: date) -> Iterator[Merge]:
    chosen = found if len(found) >= FAN_IN else [one for one in found if _is_old(one, today)]
    for first in range(0, len(chosen), MOST):
        batch = chosen[first : first + MOST]
        # What is left over after full batches waits for company like anything else.
        if len(batch) >= FAN_IN or any(_is_old(one, today) for one in batch):
            yield Merge(level, tuple(one.id for one in batch))


def _is_old(one: Waiting, today: date) -> bool:
    return one.level == 1 and one.key_day < today
