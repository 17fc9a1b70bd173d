"""Considering an offer: whether this phone would take part in a task now, decided on the phone.

The server learns only for which tasks a phone asks, never why not for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import msgspec

from aggregation.ondevice.eligibility import NotEligible, decide
from aggregation.protocol.client_task import Eligibility
from aggregation.protocol.messages import Offer
from aggregation.protocol.windows import Window
from devices_sim.device.conditions import Conditions
from devices_sim.device.facts import facts
from devices_sim.device.refusal import Refused
from devices_sim.device.state import State
from devices_sim.device.watermarks import waiting, was_run, windows_of

# Windows a server may list for one task: hours of five weeks fit.
MAX_LISTED: Final = 1000


@dataclass(frozen=True)
class Candidate:
    """A task this phone would take part in, and its windows that wait, the oldest first."""

    offer: Offer
    windows: Sequence[Window]
    # How often the server offered it, and it is asked for.
    times: int = 1


@dataclass(frozen=True)
class SitsOut:
    """Not this time; the reason stays on the phone."""

    reason: str


def merged(same: Sequence[Offer]) -> Offer:
    """Offers of one client task as one, with the windows of all."""
    if len(same) == 1:
        return same[0]
    windows = dict.fromkeys(window for offer in same for window in offer.windows)
    found = {msgspec.structs.replace(offer, windows=tuple(windows)) for offer in same}
    if len(found) > 1:
        raise Refused("The server described it in two ways.")
    return found.pop()


def consider(
    state: State, offer: Offer, streams: Iterable[str], conditions: Conditions, *, now: float
) -> Candidate | SitsOut:
    """`streams` are those the task reads, or all that may be, as long as that is not known."""
    fits = len(offer.windows) <= MAX_LISTED
    listed = windows_of(offer.windows, offer.window_unit) if fits else None
    if listed is None:
        raise Refused(f"Its list of windows is not one of {offer.window_unit}s.")
    progress = state.tasks.get(offer.task)
    if progress is not None and progress.unit is not offer.window_unit:
        raise Refused(f"It had windows by the {progress.unit}; a task never changes that.")
    windows = waiting(state, listed, task=offer.task, client_task=offer.client_task, now=now)
    if not conditions.meet(offer.schedule.conditions):
        return SitsOut(f"It asks for {', '.join(offer.schedule.conditions)}.")
    if runs_today(state, offer.task, now) >= offer.schedule.max_runs_per_day and not all(
        was_run(state, offer.task, window) for window in windows
    ):
        return SitsOut("It has run often enough today.")
    if reason := why_not_eligible(state, offer.task, offer.eligibility, windows, streams, now=now):
        return SitsOut(reason)
    return Candidate(offer, windows)


def why_not_eligible(
    state: State,
    task: str,
    criteria: Eligibility,
    windows: Sequence[Window],
    streams: Iterable[str],
    *,
    now: float,
) -> str:
    verdict = decide(criteria, facts(state, task, windows, streams, now=now))
    return verdict.reason if isinstance(verdict, NotEligible) else ""


def runs_today(state: State, task: str, now: float) -> int:
    progress = state.tasks.get(task)
    return progress.runs if progress is not None and progress.day == day_of(now) else 0


def day_of(now: float) -> str:
    return _day(int(now // 86_400))


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    """Days since 1970, as people write them."""
    return datetime.fromtimestamp(number * 86_400, UTC).date().isoformat()
