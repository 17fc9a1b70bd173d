"""Every history of one phone and a few sessions, for the once-only rule that phones really run.

The phone's side is `devices_sim.device.once_only` itself. The server's side is the smallest
system that keeps to the protocol: sessions with a memory and a process, a database with fenced
flushes, receipts and hand-overs, and windows that close. The adversary may do anything that faults
can do, at any moment: lose and repeat messages, deliver an upload long after it was sent (every
upload ever sent stays on the wire), crash the phone between any two steps, kill a session's
process, declare a session dead while its process lives on (a zombie), answer from an old snapshot,
close a window, lose a hand-over on its way.

`explore` walks all reachable states breadth-first and gives the first history after which a window
counts the phone twice, or None. A `Rules` with one rule broken must give a history: that shows
that the search can find one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from devices_sim.device.once_only import (
    NoAnswer,
    Over,
    Queued,
    Record,
    SessionShut,
    Settle,
    StillOpen,
    UnknownSession,
    next_step,
)
from tests.privacy.once_only_collecting import collecting
from tests.privacy.once_only_world import (
    DEAD,
    FLUSHED,
    OPEN,
    WAITING,
    Bounds,
    Held,
    Rules,
    Session,
    World,
    gone,
)

History = tuple[str, ...]


def explore(rules: Rules, bounds: Bounds, *, limit: int = 2_000_000) -> tuple[int, History | None]:
    """How many states were seen, and the first history that counts a window twice."""
    sessions = [Session()] * bounds.sessions
    collectors = [Session(state=WAITING, alive=False, collects=True)] * bounds.collectors
    start = World(
        record=None,
        waiting=frozenset(bounds.windows),
        sessions=(*sessions, *collectors),
        counts=tuple((window, 0) for window in bounds.windows),
    )
    came_from: dict[World, tuple[World, str] | None] = {start: None}
    todo = deque([start])
    while todo:
        world = todo.popleft()
        for name, after in steps(world, rules, bounds):
            if after in came_from:
                continue
            came_from[after] = (world, name)
            if any(count > 1 for _, count in after.counts):
                return len(came_from), _history(came_from, after)
            assert len(came_from) < limit, "The search is too large for its bounds."
            todo.append(after)
    return len(came_from), None


def _history(came_from: dict[World, tuple[World, str] | None], world: World) -> History:
    names = []
    while (before := came_from[world]) is not None:
        world, name = before
        names.append(name)
    return tuple(reversed(names))


def steps(world: World, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, World]]:
    yield from _phone(world, rules, bounds)
    yield from _uploads(world, rules)
    yield from _flushes(world, rules)
    if bounds.hand_overs:
        yield from _hand_overs(world, rules)
        yield from collecting(world, rules, bounds)
    yield from _faults(world, bounds)


def _faults(world: World, bounds: Bounds) -> Iterator[tuple[str, World]]:
    for number, session in enumerate(world.sessions):
        if session.alive and "killed" in bounds.faults:
            yield f"{number} is killed", world.with_session(number, gone(session))
        if session.state == OPEN and "dead" in bounds.faults:
            dead = replace(session, state=DEAD)
            yield f"{number} is declared dead", world.with_session(number, dead)
    for to, state in world.passing if "lost" in bounds.faults else ():
        lost = replace(world, passing=world.passing - {(to, state)})
        yield f"a hand-over to {to} is lost", lost
    for window in bounds.windows if "closed" in bounds.faults else ():
        if window not in world.closed:
            yield f"window {window} closes", replace(world, closed=world.closed | {window})


def _phone(world: World, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, World]]:
    if world.record is None:
        yield from _assigned(world, rules, bounds)
        return
    if world.answer is not None:
        yield "the phone deals with the answer", _dealt(world, rules)
        yield "the phone crashes", replace(world, answer=None)
        return
    record, session = world.record, int(world.record.session)
    for to in _addressees(record, rules, bounds):
        for update in _ids(world, rules, bounds):
            sent = replace(
                world,
                wire=world.wire | {(to, update, record.windows)},
                ids=max(world.ids, update + 1),
                record=replace(record, session=str(to), update=str(update)),
            )
            yield f"the phone sends {update} to {to}, and hears nothing", sent
            heard = Queued() if _takes(world.sessions[to]) else SessionShut()
            yield f"the phone sends {update} to {to}", replace(sent, answer=heard)
    for answer in _answers(world, session, int(record.update), rules):
        yield f"the phone asks about {record.update}", replace(world, answer=answer)


def _assigned(world: World, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, World]]:
    """A session that is open is given, with a new id; also one whose process has died unnoticed."""
    windows = tuple(w for w in bounds.windows if w in world.waiting and w not in world.closed)
    collected = world.collected and rules.collected_takes_no_more
    if not windows or collected or world.ids >= bounds.updates:
        return
    for number, session in enumerate(world.sessions):
        if session.state == OPEN and not session.collects:
            update, sent = world.ids, (number, world.ids, windows)
            stored = replace(
                world,
                record=Record(str(number), str(update), windows),
                waiting=world.waiting - set(windows),
                ids=world.ids + 1,
            )
            yield f"the phone stores {update} for {number}", stored
            if not rules.stored_before_sent:
                unstored = replace(world, wire=world.wire | {sent}, ids=world.ids + 1)
                yield f"the phone sends {update} to {number}, and crashes", unstored


def _addressees(record: Record, rules: Rules, bounds: Bounds) -> list[int]:
    if rules.same_session_on_retry:
        return [int(record.session)]
    return list(range(bounds.sessions))


def _ids(world: World, rules: Rules, bounds: Bounds) -> list[int]:
    assert world.record is not None
    own = int(world.record.update)
    return [own] if rules.same_id_on_retry or world.ids >= bounds.updates else [own, world.ids]


def _answers(world: World, session: int, update: int, rules: Rules) -> Iterator[object]:
    yield NoAnswer()
    # A front end's snapshot may be old: "open" can be said at any time.
    yield StillOpen()
    told = status(world, session, update, rules)
    if told != StillOpen():
        yield told
    if world.sessions[session].state != OPEN:
        yield UnknownSession()
    if not rules.over_needs_the_database and not world.sessions[session].alive:
        yield Over(frozenset())


def status(world: World, session: int, update: int, rules: Rules) -> StillOpen | Over:
    """What is known of an update: open while any of its windows may still come to be counted."""
    if world.sessions[session].state == OPEN:
        return StillOpen()
    counted = frozenset(w for s, u, w in world.receipts if (s, u) == (session, update))
    if not rules.a_receipt_is_asked_for:
        return Over(frozenset())
    for window, successor in world.sessions[session].handed:
        awaited = update in world.sessions[session].named and window not in counted
        if awaited and not _has_ended(world, window, successor, rules):
            return StillOpen()
    return Over(counted)


def _has_ended(world: World, window: str, session: int, rules: Rules) -> bool:
    if not rules.handed_over_is_awaited:
        return True
    found = world.sessions[session]
    if found.state == OPEN:
        return False
    return all(_has_ended(world, window, s, rules) for w, s in found.handed if w == window)


def _dealt(world: World, rules: Rules) -> World:
    assert world.record is not None
    record, step = next_step(world.record, world.answer)  # type: ignore[arg-type]
    if isinstance(step, Settle):
        again = world.waiting | set(step.again)
        return replace(world, record=None, waiting=again, answer=None)
    return replace(world, record=record, answer=None)


def _takes(session: Session) -> bool:
    """Its queue is there: until it is over, or found dead."""
    return session.state == OPEN


def _uploads(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """Any upload ever sent may arrive, now or again; a zombie still reads what it has."""
    for to, update, windows in world.wire:
        session = world.sessions[to]
        if not session.alive or (rules.session_takes_an_id_once and update in session.seen):
            continue
        held = {(to, update, w) for w in windows}
        if not rules.session_takes_an_id_once:
            held = {(to, update + 100 * _times(session, update), w) for w in windows}
            if _times(session, update) > 1:
                continue
        after = replace(session, seen=session.seen | {update}, held=session.held | held)
        yield f"{update} arrives at {to}", world.with_session(to, after)


def _times(session: Session, update: int) -> int:
    return len({u for _, u, _ in session.held if u % 100 == update})


def _flushes(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    for number, session in enumerate(world.sessions):
        if session.alive and not session.collects:
            yield f"{number} flushes", _flushed(world, number, rules)


def _flushed(world: World, number: int, rules: Rules, keeping: Held = frozenset()) -> World:
    """One transaction: the state, the sums of windows still open, and their receipts."""
    session = world.sessions[number]
    if session.state != OPEN and rules.flush_is_fenced:
        return world.with_session(number, gone(session))
    stored = frozenset(h for h in session.held - keeping if h[2] not in world.closed)
    kept = {(s, u % 100, w) for s, u, w in stored if rules.inherited_receipts or s == number}
    receipts = world.receipts | kept if rules.receipts_with_the_flush else world.receipts
    over = replace(gone(session), state=FLUSHED)
    return replace(world.with_counted(stored), receipts=receipts).with_session(number, over)


def _hand_overs(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    for number, session in enumerate(world.sessions):
        if session.alive and session.held and not session.collects:
            for successor, other in enumerate(world.sessions):
                stands_for_the_next = other.collects and other.state == DEAD
                if successor != number and (other.state == OPEN or stands_for_the_next):
                    yield from _handed(world, number, successor, rules)
    for to, state in world.passing:
        if (session := world.sessions[to]).alive:
            arrived = replace(world, passing=world.passing - {(to, state)})
            taken = replace(session, held=session.held | state)
            yield f"a hand-over arrives at {to}", arrived.with_session(to, taken)


def _handed(world: World, number: int, to: int, rules: Rules) -> Iterator[tuple[str, World]]:
    """Each window on its own: one is handed over, the others are flushed with the same move."""
    session = world.sessions[number]
    for window in sorted({w for _, _, w in session.held}):
        state = frozenset(h for h in session.held if h[2] == window)
        name = f"{number} hands window {window} to {to}"
        if session.state == OPEN:
            flushed = _flushed(world, number, rules, keeping=state)
            own = frozenset(u % 100 for s, u, _ in state if s == number)
            named = own if rules.handed_over_is_named else frozenset()
            handed = frozenset({(window, to)})
            over = replace(flushed.sessions[number], handed=handed, named=named)
            if world.sessions[to].collects or not rules.kept_for_collectors_only:
                over = replace(over, kept=(to, state))
            passing = {(to, state)} if world.sessions[to].state == OPEN else set()
            after = replace(flushed, passing=world.passing | passing)
            yield name, after.with_session(number, over)
        elif not rules.hand_over_after_commit:
            passing = world.passing | {(to, state)}
            yield name, replace(world, passing=passing).with_session(number, gone(session))
