"""Sizes and times in fixed buckets: percentiles without keeping a single one of them."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

# Upper limits: bytes of one call in one direction, and milliseconds.
BYTES = (250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 70_000)
MILLISECONDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 20_000)


def bucket(value: float, limits: Sequence[int]) -> int:
    """The number of the first limit that is not exceeded; one more than there are for the rest."""
    return bisect_left(limits, value)


def percentile(counts: Mapping[int, int], share: float) -> int | None:
    """The bucket that at least this share is in or below; nothing where nothing was counted."""
    wanted, seen = share * sum(counts.values()), 0
    for number in sorted(counts):
        seen += counts[number]
        if counts[number] and seen >= wanted:
            return number
    return None


def in_words(number: int, limits: Sequence[int], units: Sequence[str]) -> str:
    """`≤ 2 kB`, `> 70 kB`: the second unit has a thousand of the first."""
    over = number >= len(limits)
    limit = limits[-1] if over else limits[number]
    size, unit = (limit // 1000, units[1]) if limit >= 1000 else (limit, units[0])
    return f"{'>' if over else '≤'} {size} {unit}"
