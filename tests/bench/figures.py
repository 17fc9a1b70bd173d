"""A figure is ours beside a peer or a floor, the same work in the same run."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    name: str
    ours: float
    peer: float
    unit: str
    # What the peer is, in a few words.
    beside: str

    def line(self) -> str:
        ratio = _short(self.ours / self.peer) if self.peer else None
        shown = {**asdict(self), "ours": _short(self.ours), "peer": _short(self.peer)}
        return json.dumps({**shown, "ratio": ratio}, ensure_ascii=False)


def _short(number: float) -> float:
    """Three digits: a shared machine does not measure more."""
    return float(f"{number:.3g}")


def is_full() -> bool:
    """Whether the sizes are asked for that take long: `python -m tests.bench … --full`."""
    return "--full" in sys.argv


def seconds_each(work: Callable[[], object], *, times: int, rounds: int = 5) -> float:
    """Median seconds of one call: rounds of many calls, so that one hiccup does not decide."""
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(times):
            work()
        spent.append((time.perf_counter() - began) / times)
    return statistics.median(spent)
