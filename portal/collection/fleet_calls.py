"""What calls of devices came to, and what they cost: by kind, from counters and fixed buckets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aggregation.protocol.messages import Code
from aggregation.protocol.refusal import Reason
from portal.collection import fleet_counts
from portal.collection.coarse import SMALLEST
from portal.collection.fleet_buckets import BYTES, MILLISECONDS, in_words, percentile
from portal.collection.fleet_counts import UNKNOWN
from portal.collection.overview import Quantity

# In the order of a device's life.
NAMES = ("active", "check-in", "assignments", "client-task", "upload", "status", UNKNOWN)


@dataclass(frozen=True)
class Ended:
    """What ended on the way, and why."""

    why: str
    count: Quantity
    call: str = ""
    # For programs, where it has one.
    code: str = ""


@dataclass(frozen=True)
class Call:
    """Calls of one kind. Percentiles are upper limits of buckets, and empty below 1000 calls."""

    name: str
    count: Quantity
    # p50 and p95.
    up: tuple[str, ...]
    down: tuple[str, ...]
    time: tuple[str, ...]

    @property
    def title(self) -> str:
        return "Not in the protocol" if self.name == UNKNOWN else self.name.capitalize()

    @property
    def words(self) -> tuple[str, ...]:
        return (*self.up, *self.down, *self.time)


@dataclass(frozen=True)
class Calls:
    each: tuple[Call, ...]
    # What all calls together sent and received for each upload that was taken, on average.
    bytes_per_upload: int | None

    @property
    def kilobytes_per_upload(self) -> str:
        return f"{(self.bytes_per_upload or 0) / 1000:.1f} kB"


def calls(counted: Counter[str]) -> Calls:
    uploads = counted[fleet_counts.Stage.UPLOADED]
    size = counted[fleet_counts.BYTES_UP] + counted[fleet_counts.BYTES_DOWN]
    return Calls(
        each=tuple(_call(name, counted) for name in NAMES),
        bytes_per_upload=_two_digits(size / uploads) if uploads >= SMALLEST else None,
    )


def ended_in_calls(counted: Counter[str]) -> tuple[Ended, ...]:
    """Calls that were refused, the most frequent first. Only what may be told."""
    found = [
        Ended(
            _words(code), Quantity.of(counted[fleet_counts.call(name, code)]), name, code=code.value
        )
        for name in NAMES
        for code in Code
    ]
    return _told(found)


def ended_in_sessions(counted: Counter[str]) -> tuple[Ended, ...]:
    """Updates that sessions refused, the most frequent first. Only what may be told."""
    found = [
        Ended(_words(one), Quantity.of(counted[fleet_counts.refused(one)]), code=one.value)
        for one in Reason
    ]
    return _told(found)


def _told(found: list[Ended]) -> tuple[Ended, ...]:
    often = [one for one in found if one.count.number]
    return tuple(sorted(often, key=lambda one: -one.count.number))


def _call(name: str, counted: Counter[str]) -> Call:
    prefix = fleet_counts.call(name, "")
    times = sum(count for counter, count in counted.items() if counter.startswith(prefix))

    def both(what: str, limits: Sequence[int], units: Sequence[str]) -> tuple[str, ...]:
        if times < SMALLEST:
            return ()
        numbers = range(len(limits) + 1)
        buckets = {n: counted[fleet_counts.measure(what, name, n)] for n in numbers}
        found = [percentile(buckets, share) for share in (0.5, 0.95)]
        return tuple(in_words(n, limits, units) for n in found if n is not None)

    return Call(
        name=name,
        count=Quantity.of(times),
        up=both("up", BYTES, ("B", "kB")),
        down=both("down", BYTES, ("B", "kB")),
        time=both("ms", MILLISECONDS, ("ms", "s")),
    )


def _words(code: str) -> str:
    return str(code).replace("_", " ").capitalize()


def _two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))
