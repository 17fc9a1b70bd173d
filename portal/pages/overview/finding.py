"""One thing that is wrong, and what to do: what all sources of the overview give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from aggregation.clock import Clock, SimulatedClock
from aggregation.pace import real_seconds
from portal.collection.overview import Overview, overview
from portal.pages.health import Part, parts

# The worst first. The design system has a colour of the same name for each.
WEIGHTS = ("bad", "warning", "info")
_WORDS = {"bad": "Act now", "warning": "Act soon", "info": "Good to know"}


@dataclass(frozen=True)
class Finding:
    # What is found, stable and documented: `worker-gone`. With the subject it is one finding.
    kind: str
    weight: str
    title: str
    # What it means for the system, in a sentence or two.
    meaning: str
    # What to do, in a sentence.
    remedy: str
    subject: str = ""
    # Where to look or act: an address of ours, with words for it, or a command for the shell.
    link: str = ""
    link_words: str = ""
    command: str = ""
    # Machine time; where nobody knows, when it was first seen.
    since: datetime | None = None

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.subject}"

    @property
    def urgency(self) -> str:
        return _WORDS[self.weight]


@dataclass(frozen=True)
class Seen:
    """What all sources look at, asked once for all of them."""

    # Machine time, and the civil clock.
    now: datetime
    clock: Clock

    @cached_property
    def parts(self) -> list[Part]:
        return parts()

    @cached_property
    def sessions(self) -> Overview:
        return overview(now=self.clock.now())

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)

    def machine_time_of(self, civil: datetime) -> datetime:
        """When a civil moment of the past was, on the machine's clock, at the speed of now."""
        speed = self.clock.speed if isinstance(self.clock, SimulatedClock) else 1.0
        passed = real_seconds(civil.timestamp(), self.clock.now().timestamp(), speed=speed)
        return self.now - timedelta(seconds=passed or 0.0)


Findings = Iterator[Finding]
Source = Callable[[Seen], Findings]
