"""The controller: looks at all sessions, buries the dead, and does what the plan says.

How many sessions a revision has is decided in `demand`, from what the sessions say of themselves.
What arrives is remembered over the end of a session, for a while: else a revision whose sessions
fill within seconds would begin with one each time.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
from django.conf import settings
from django.db import transaction

from aggregation.clock import Clock
from aggregation.protocol.ids import fresh_session_id
from portal import heartbeats
from portal.audit.services import move, record
from portal.collection import arrivals, live
from portal.collection.demand import Need, Plan, Serving, plan
from portal.collection.models import Session
from portal.collection.opening import config_of_revision
from portal.collection.said import Said, said
from portal.collection.selectors import revisions_to_collect
from portal.tasks.models import Revision
from portal.tasks.signing import is_trusted
from portal.valkey import queue_client

log = logging.getLogger(__name__)

# What the controller found, for the page.
FINDINGS = "mayfly:placing"
# When it last looked, and until when nobody is buried because nobody could look for a while.
LOOKED, LENIENT = "mayfly:placing:looked", "mayfly:placing:lenient"


class Findings(msgspec.Struct, frozen=True):
    """What the controller found at its last look."""

    slots: int = 0
    taken: int = 0
    # Revisions without a session, for want of a slot, by name.
    waiting: tuple[str, ...] = ()


def findings() -> Findings:
    raw = queue_client().get(FINDINGS)
    return msgspec.json.decode(raw, type=Findings) if raw else Findings()


@dataclass(frozen=True)
class _Seen:
    """A revision, and the sessions that it had when the plan was made."""

    revision: Revision
    sessions: tuple[Session, ...]


def place_sessions(*, clock: Clock) -> list[str]:
    """Bury the dead, and see to it that there are enough sessions. Gives the ids to be run."""
    bury_lapsed(clock=clock)
    seen = {
        revision.pk: _Seen(revision, tuple(_living(revision)))
        for revision in revisions_to_collect(clock.now())
        if is_trusted(revision)
    }
    found = said([one.pk for each in seen.values() for one in each.sessions])
    needs = [_need(each, found) for each in seen.values()]
    workers, taken = _workers(), _taken()
    decided = plan(
        needs,
        slots=workers * settings.SESSION_SLOTS - taken,
        spare=workers,
        lead_seconds=_lead_seconds(),
    )
    _tell(decided, seen, slots=workers * settings.SESSION_SLOTS, taken=taken)
    _retire(decided)
    made = [_placed(seen[pk], decided.place.count(pk), clock=clock) for pk in set(decided.place)]
    return [session.pk for sessions in made for session in sessions]


def _need(seen: _Seen, found: dict[str, Said]) -> Need:
    """Who is silent is about to speak, or buried soon; who speaks no more is stuck."""
    candidates = [one for one in seen.sessions if not _is_leaving(one)]
    speaking = [one for one in candidates if one.pk in found]
    serving = [one for one in speaking if not found[one.pk].is_stuck]
    rate = sum(found[one.pk].status.arriving for one in seen.sessions if one.pk in found)
    return Need(
        revision=seen.revision.pk,
        most=config_of_revision(seen.revision).aggregation.max_contributions,
        arriving=arrivals.remembered(seen.revision.pk, rate),
        serving=tuple(
            Serving(one.pk, found[one.pk].load, found[one.pk].status.busy) for one in serving
        ),
        coming=len(candidates) - len(speaking),
        leaving=len(seen.sessions) - len(candidates) + len(speaking) - len(serving),
    )


def _is_leaving(session: Session) -> bool:
    return session.state == Session.State.COMPLETING or bool(session.reason)


def _retire(decided: Plan) -> None:
    """Ask sessions to end: at once where somebody waits for a slot, else when it stays calm."""
    calm = [
        session
        for revision, session in decided.surplus.items()
        if arrivals.calm_seconds(revision, session) >= arrivals.CALM_SECONDS
    ]
    for session in (*decided.make_room, *calm):
        rows = Session.objects.filter(pk=session, state=Session.State.OPEN, reason="")
        if rows.update(reason=Session.Reason.QUIET):
            log.info("Session %s is asked to end: fewer will do.", session)


def _tell(decided: Plan, seen: dict[int, _Seen], *, slots: int, taken: int) -> None:
    """Say once in the log who finds no slot, and on the page as long as it is so."""
    found = Findings(slots, taken, tuple(str(seen[pk].revision) for pk in decided.waiting))
    before = findings().waiting
    for revision in found.waiting:
        if revision not in before:
            log.warning("No slot is free for %s: its devices are told to come back.", revision)
    queue_client().set(FINDINGS, msgspec.json.encode(found), px=live.lasting_ms())


def _workers() -> int:
    return sum(part.startswith("sessions@") for part in heartbeats.parts_alive())


def _taken() -> int:
    return Session.objects.filter(state__in=Session.ALIVE, collects=None).count()


def _lead_seconds() -> float:
    """From being asked for to the first device: the controller's beat and the worker's claim, the
    snapshot's beat, the front ends' reading; and as much again to be sure."""
    return float(4 * settings.HEARTBEAT_SECONDS + 2 * settings.SNAPSHOT_SECONDS)


def bury_lapsed(*, clock: Clock) -> None:
    """Sessions whose sign of life has lapsed, or that no worker has taken, are dead.

    Their queues are deleted with them. What they held is lost with their memory; their devices
    find no receipt and send again. One that is still there after all finds its row dead, and
    stores nothing.

    While the database is away nobody looks, and sessions wait for it, too. They may find it again
    later than this, by about as long as it was away: so long they have time to say so.
    """
    rows = list(Session.objects.filter(state__in=Session.ALIVE))
    claimed = [row for row in rows if row.state != Session.State.OPENING or row.collects_id]
    there = live.alive([row.pk for row in claimed])
    live.is_back(there)
    now, unclaimed_since = time.time(), datetime.now(UTC) - _claim_time()
    lenient = _is_lenient(now)
    for row in rows:
        if row not in claimed and row.requested_at < unclaimed_since:
            bury(row, Session.Reason.UNCLAIMED, clock=clock)
        elif row in claimed and row.pk not in there and not lenient and live.is_lapsed(row.pk, now):
            bury(row, Session.Reason.LOST, clock=clock)


def _is_lenient(now: float) -> bool:
    """Whether nobody could look until a while ago; between slow beats nobody is to."""
    client, lapse = queue_client(), settings.SESSION_LAPSE_SECONDS
    away = now - float(client.getset(LOOKED, repr(now)) or now)
    if away > max(lapse, 3 * settings.HEARTBEAT_SECONDS):
        client.set(LENIENT, b"1", px=int(1000 * min(away, 2 * lapse)))
    return bool(client.exists(LENIENT))


def bury(row: Session, reason: Session.Reason, *, clock: Clock) -> bool:
    """Declare a session dead, if nobody moved it meanwhile, and delete what is left in Valkey."""
    buried = move(
        row, to=Session.State.DEAD, clock=clock, reason=reason, ended_at=datetime.now(UTC)
    )
    if buried:
        # A worker that is stopped in order, with nobody beside it, is nothing to be warned of.
        level = logging.INFO if reason == Session.Reason.NO_SUCCESSOR else logging.WARNING
        log.log(level, "Session %s is dead: %s.", row.pk, reason.label.lower())
        live.forget(row.pk)
    return buried


def _living(revision: Revision) -> list[Session]:
    return list(revision.sessions.filter(state__in=Session.ALIVE, collects=None))


@transaction.atomic
def _placed(seen: _Seen, count: int, *, clock: Clock) -> Sequence[Session]:
    """So many new sessions; none if another controller has changed something meanwhile."""
    Revision.objects.select_for_update(no_key=True).get(pk=seen.revision.pk)
    if {one.pk for one in _living(seen.revision)} != {one.pk for one in seen.sessions}:
        return ()
    made = [
        Session.objects.create(
            id=fresh_session_id(), revision=seen.revision, requested_at=datetime.now(UTC)
        )
        for _ in range(count)
    ]
    for session in made:
        record(action="session.requested", subject=session, clock=clock)
    return made


def _claim_time() -> timedelta:
    """How long a session may wait for a worker to take it."""
    return timedelta(seconds=max(10.0, 10 * settings.HEARTBEAT_SECONDS))
