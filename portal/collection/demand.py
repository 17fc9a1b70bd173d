"""How many sessions each revision has: a decision from numbers alone.

A session that is full ends, and the next one takes a few seconds to be placed, opened and known to
the front ends. So a revision needs **room for what arrives until then**: with few devices one
session has it; with many, several are open side by side. It also needs enough of them for the
work, so that each has time left. Where there is more than twice of both, the fullest one ends:
it leaves the most to store and the least to hand over.

A slot is a session's place on a worker. First every revision gets one session, in the order of
their windows' due times; what is left goes to the one that is shortest of room. A revision that
finds no slot waits: another that has several sessions ends one for it; if all have one each, its
devices are told to come back until a slot is free. The spare places are for successors only, so
that a session that has to hand over can always be followed by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

# A session fuller than this gets company, so that one is there when it is full.
CROWDED = 0.8
# More of its time than this at work, and there should be another one.
BUSY = 0.7
# Sessions end for being too many only if half of what they offer would do.
MARGIN = 2.0


@dataclass(frozen=True)
class Serving:
    """A session that devices are sent to, by what it says."""

    id: str
    # Share of the devices that it takes, those who wait in its queue included.
    load: float
    # Share of its time at work.
    busy: float = 0.0


@dataclass(frozen=True)
class Need:
    """One revision with open windows."""

    revision: int
    # Devices that a session takes before it is full.
    most: int
    # Updates a second, as far as is known.
    arriving: float = 0.0
    serving: tuple[Serving, ...] = ()
    # Asked for, or open and about to speak.
    coming: int = 0
    # Alive, and sent no devices: ending, or stuck.
    leaving: int = 0

    @property
    def has(self) -> int:
        return len(self.serving) + self.coming

    def lacks(self, lead_seconds: float) -> int:
        """How many more sessions it should have."""
        short = self.arriving * lead_seconds - _room(self.serving, self.most)
        for_room = math.ceil((short - self.coming * self.most) / self.most)
        for_work = math.ceil(sum(one.busy for one in self.serving) / BUSY) - self.has
        return max(0, for_room, for_work, int(self.is_crowded))

    @property
    def is_crowded(self) -> bool:
        """Nobody of those who serve it, if there is anybody, has much room left."""
        return not self.coming and all(one.load >= CROWDED for one in self.serving)

    def surplus(self, lead_seconds: float) -> str | None:
        """A session that it could do without, with a margin."""
        if self.coming or len(self.serving) < 2:
            return None
        *others, fullest = sorted(self.serving, key=lambda one: (one.load, one.id))
        roomy = _room(others, self.most) >= MARGIN * self.arriving * lead_seconds
        idle = MARGIN * sum(one.busy for one in self.serving) <= BUSY * len(others)
        return fullest.id if roomy and idle and others[0].load < CROWDED else None


@dataclass(frozen=True)
class Plan:
    # Revisions that get a session, once for each.
    place: tuple[int, ...] = ()
    # Revisions without any session, for want of a slot.
    waiting: tuple[int, ...] = ()
    # Sessions that end now, to make room for those.
    make_room: tuple[str, ...] = ()
    # Sessions that end if it stays as calm, by revision.
    surplus: dict[int, str] = field(default_factory=dict)


def plan(needs: Sequence[Need], *, slots: int, spare: int, lead_seconds: float) -> Plan:
    """What to do now, for revisions in the order of their windows' due times.

    `slots` are the places that nobody has, `spare` those beyond them for successors only.
    """
    places = _Places(slots, spare)
    place, waiting = _first_sessions(needs, places)
    place += _company(needs, place, places, lead_seconds)
    found = {need.revision: need.surplus(lead_seconds) for need in needs}
    leaving = sum(need.leaving for need in needs)
    return Plan(
        place=tuple(place),
        waiting=tuple(waiting),
        make_room=tuple(_giving_way(needs, len(waiting) - leaving)),
        surplus={revision: session for revision, session in found.items() if session},
    )


@dataclass
class _Places:
    free: int
    spare: int

    def take(self, *, succeeds: bool) -> bool:
        """Whether there was a place; who succeeds somebody may have a spare one."""
        if self.free + (self.spare if succeeds else 0) <= 0:
            return False
        self.free -= 1
        return True


def _first_sessions(needs: Sequence[Need], places: _Places) -> tuple[list[int], list[int]]:
    place: list[int] = []
    waiting: list[int] = []
    for need in needs:
        if not need.has:
            found = places.take(succeeds=need.leaving > 0)
            (place if found else waiting).append(need.revision)
    return place, waiting


def _company(
    needs: Sequence[Need], placed: Sequence[int], places: _Places, lead_seconds: float
) -> list[int]:
    """More sessions: for the crowded, who soon need a successor, then for whoever lacks most."""
    found = [n.revision for n in needs if n.has and n.is_crowded and places.take(succeeds=True)]
    lacking = {need.revision: need.lacks(lead_seconds) for need in needs}
    for revision in (*placed, *found):
        lacking[revision] -= 1
    while max(lacking.values(), default=0) > 0 and places.take(succeeds=False):
        neediest = max(lacking, key=lambda revision: lacking[revision])
        found.append(neediest)
        lacking[neediest] -= 1
    return found


def _giving_way(needs: Sequence[Need], count: int) -> list[str]:
    """The fullest of those who have most, each revision keeping one."""
    having = {need.revision: sorted(need.serving, key=lambda one: one.load) for need in needs}
    found: list[str] = []
    while len(found) < count and max(map(len, having.values()), default=0) > 1:
        found.append(max(having.values(), key=len).pop().id)
    return found


def _room(serving: Sequence[Serving], most: int) -> float:
    return sum(max(0.0, 1 - one.load) for one in serving) * most
