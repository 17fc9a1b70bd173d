"""Cache, windows, clocks and time to live against an oracle, whatever order things happen in.

A phone and a server have a clock each; the phone's is set back and forth, its program restarts,
it is reinstalled, its owner opts out and in, sessions flush, die and are forgotten, requests and
answers get lost. After each step the oracle, which knows nothing of watermarks, says which windows
may have left the phone and what was in them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from aggregation.clock import ManualClock
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.update import Shape, unpack
from aggregation.protocol.windows import Unit, Window
from devices_sim.device import considering, settling, taking_part, watermarks
from devices_sim.device.library import Library
from devices_sim.device.once_only import Settle
from devices_sim.device.phone import Phone
from devices_sim.device.state import State
from devices_sim.device.storage import MemoryStorage
from tests.aggregation.ondevice.examples import client_task, trip
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

CATALOG = shipped_catalog(regions=["1001", "1002"], countries=["DE"])
LIBRARY = Library(CATALOG)
ALWAYS = Eligibility(min_separation_windows=0, require_events=False)
OFTEN = Schedule(max_runs_per_day=1000, conditions=())
TTL = timedelta(days=30)
START = datetime(2026, 11, 9, tzinfo=UTC)
ONE_TRIP = GRID // 1024

DAILY = client_task(
    CATALOG, window_unit=Unit.DAY, epsilon="0.01", eligibility=ALWAYS, schedule=OFTEN
)
WEEKLY = client_task(CATALOG, epsilon="0.02", eligibility=ALWAYS, schedule=OFTEN)
UNITS = {"daily": Unit.DAY, "weekly": Unit.WEEK}

Part = tuple[str, str]  # a task and a window id


@dataclass
class Oracle:
    """What an honest phone would have done, kept as plain sets and lists."""

    started: datetime
    agreed: datetime | None = None
    events: list[datetime] = field(default_factory=list)
    on_their_way: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    finished: set[Part] = field(default_factory=set)

    def purge(self, now: datetime) -> None:
        self.events = [moment for moment in self.events if abs(now - moment) <= TTL]

    def expected(self, task: str, listed: tuple[str, ...], now: datetime) -> tuple[str, ...]:
        taken = {w for name, windows in self.on_their_way.values() if name == task for w in windows}
        return tuple(
            window_id
            for window_id in listed
            if (window := Window.parse(window_id, UNITS[task])).end <= now
            and self.agreed is not None
            and window.start >= max(self.started, self.agreed)
            and (task, window_id) not in self.finished
            and window_id not in taken
        )

    def trips_in(self, window: Window) -> int:
        return sum(moment in window for moment in self.events)


class PhoneMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.truth, self.clock = ManualClock(START), ManualClock(START)
        self.peer = Peer(self.truth)
        approved = START - timedelta(days=1)
        self.peer.add("daily", DAILY, approved_at=approved, grace_hours=6 * 24)
        self.peer.add("weekly", WEEKLY, approved_at=approved, grace_hours=15 * 24)
        self.fault = ""
        self.install()

    def install(self) -> None:
        self.storage = MemoryStorage()
        self.oracle = Oracle(started=self.clock.now())
        self.start()
        self.agree()

    def start(self) -> None:
        api = DirectApi(self.peer, lambda number, name: self.fault if name == "upload" else "")
        self.phone = Phone(
            self.storage, CATALOG, self.peer.pins, api, self.clock, Random(1), "DE", library=LIBRARY
        )

    @rule()
    def a_good_day_goes_by(self) -> None:
        """All that has to happen for a window to count: rare, were it left to chance."""
        self.something_happens(1)
        self.time_passes(24)
        self.it_wakes_up()
        self.peer.flush_all()
        self.it_wakes_up()

    def teardown(self) -> None:
        self.loop.close()

    @rule(hours=st.sampled_from([1, 5, 12, 24, 49, 7 * 24]))
    def time_passes(self, hours: int) -> None:
        self.truth.advance(timedelta(hours=hours))
        self.clock.advance(timedelta(hours=hours))

    @rule(hours=st.sampled_from([-40 * 24, -8 * 24, -25, -3, 2, 30, 8 * 24, 45 * 24]))
    def the_clock_is_set(self, hours: int) -> None:
        self.clock.set(self.truth.now() + timedelta(hours=hours))
        self.it_wakes_up()

    @rule()
    def the_clock_is_right(self) -> None:
        self.clock.set(self.truth.now())
        self.it_wakes_up()

    @rule(hours_ago=st.sampled_from([0, 1, 20, 26, 100]))
    def something_happens(self, hours_ago: int) -> None:
        now = self.clock.now()
        moment = now - timedelta(hours=hours_ago)
        event = trip(distance_km=0.0, duration_min=0.0)._replace(time=moment.timestamp())
        kept = self.phone.record("trips", event)
        self.oracle.purge(now)
        assert kept == (self.oracle.agreed is not None)
        if kept:
            self.oracle.events.append(moment)

    @rule()
    def it_restarts(self) -> None:
        self.start()

    @precondition(lambda self: self.clock.now() >= self.truth.now())
    @rule()
    def it_is_reinstalled(self) -> None:
        """By a clock that is not behind: one that is would be believed (documented)."""
        self.install()

    @precondition(lambda self: self.oracle.agreed is None)
    @rule()
    def agree(self) -> None:
        self.phone.set_consent("trips", True)
        self.oracle.agreed = self.clock.now()

    @precondition(lambda self: self.oracle.agreed is not None)
    @rule()
    def opt_out(self) -> None:
        self.phone.set_consent("trips", False)
        self.oracle.agreed, self.oracle.events = None, []
        self._finish_all_on_their_way()

    def _finish_all_on_their_way(self) -> None:
        for task, windows in self.oracle.on_their_way.values():
            self.oracle.finished |= {(task, window) for window in windows}
        self.oracle.on_their_way.clear()

    @rule(fault=st.sampled_from(["", "", "request", "answer"]))
    def the_network_changes(self, fault: str) -> None:
        self.fault = fault

    @rule(which=st.integers(0, 3))
    def a_session_flushes(self, which: int) -> None:
        if session := self._open_session(which):
            self.peer.flush(session)

    @rule(which=st.integers(0, 3))
    def a_session_dies(self, which: int) -> None:
        if session := self._open_session(which):
            self.peer.kill(session)

    @rule(which=st.integers(0, 3))
    def a_session_is_forgotten(self, which: int) -> None:
        over = [session for session in self.peer.sessions.values() if session.over]
        if over:
            self.peer.forget(over[which % len(over)])

    def _open_session(self, which: int) -> Any:
        running = [session for session in self.peer.sessions.values() if not session.over]
        return running[which % len(running)] if running else None

    @rule()
    def it_wakes_up(self) -> None:
        now = self.clock.now()
        self.oracle.purge(now)
        self._oracle_learns(now)
        expected = {
            revision.task: self.oracle.expected(
                revision.task, revision.windows(self.truth.now()), now
            )
            for revision in self.peer.revisions
        }
        arrived = len(self.peer.arrived)
        did = self.loop.run_until_complete(self.phone.wake_up())
        sent = {each.task: each.windows for each in did.sent}
        assert sent == {task: windows for task, windows in expected.items() if windows}
        for session_id, update, sealed in self.peer.arrived[arrived:]:
            if update not in self.oracle.on_their_way:
                self._see_what_left(session_id, update, sealed)
        for pending in self.phone.load().pending:
            self.oracle.on_their_way[pending.update] = (pending.task, pending.windows)

    def _see_what_left(self, session_id: str, update: str, sealed: bytes) -> None:
        session = self.peer.sessions[session_id]
        task = session.revision.client_task
        plain = session.keys.open(
            sealed, client_task=task.sha256, session=session_id, update=update
        )
        for window, part in zip(*unpack(plain, Shape.of(task)), strict=True):
            assert part.values.sum() == ONE_TRIP * self.oracle.trips_in(window)

    def _oracle_learns(self, now: datetime) -> None:
        """What the phone is about to hear of its updates, and to give up by itself."""
        if self.oracle.agreed is None:
            return
        for pending in self.phone.load().pending:
            task, windows = self.oracle.on_their_way[pending.update]
            newest = Window.parse(windows[-1], UNITS[task])
            session = self.peer.sessions.get(pending.session)
            if session is None or newest.end + TTL < now:
                self.oracle.finished |= {(task, window) for window in windows}
            elif session.over:
                counted = {w for w, ids in session.receipts.items() if pending.update in ids}
                self.oracle.finished |= {(task, window) for window in counted}
            else:
                continue
            del self.oracle.on_their_way[pending.update]

    @invariant()
    def nothing_counts_twice(self) -> None:
        assert all(len(parts) == 1 for parts in self.peer.counted.values())


def run(examples: int, **more: Any) -> None:
    run_state_machine_as_test(
        PhoneMachine, settings=settings(max_examples=examples, stateful_step_count=40, **more)
    )


def test_a_phone_does_what_the_oracle_says(size: str) -> None:
    run(300 if size == "full" else 40)


def run_until_noticed() -> None:
    """Finding is enough: a mutant's example need not be made small."""
    with pytest.raises(AssertionError):
        run(300, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)


# Each breaks one condition of `waiting`; the machine must notice.


def reopens_when_the_clock_goes_back(state: State, *arguments: Any, now: float, **more: Any) -> Any:
    """A high watermark that follows the clock down, as one derived from it would."""
    for progress in (*state.tasks.values(), *state.client_tasks.values()):
        low = Window.containing(datetime.fromtimestamp(now, UTC), progress.unit).id
        progress.high = min(progress.high, low)
        progress.done = [window for window in progress.done if window < low]
    return WAITING(state, *arguments, now=now, **more)


def takes_partial_windows(*arguments: Any, now: float, **more: Any) -> Any:
    """The server's list alone: by the phone's own clock the window still goes on."""
    return WAITING(*arguments, now=float("inf"), **more)


def takes_windows_before_the_first_start(state: State, *arguments: Any, **more: Any) -> Any:
    started, state.started = state.started, float("-inf")
    try:
        return WAITING(state, *arguments, **more)
    finally:
        state.started = started


def forgets_what_is_on_its_way(state: State, *arguments: Any, **more: Any) -> Any:
    pending, state.pending = state.pending, []
    try:
        return WAITING(state, *arguments, **more)
    finally:
        state.pending = pending


WAITING = watermarks.waiting


@pytest.mark.parametrize(
    "mutant",
    [
        reopens_when_the_clock_goes_back,
        takes_partial_windows,
        takes_windows_before_the_first_start,
        forgets_what_is_on_its_way,
    ],
)
def test_the_oracle_notices(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(considering, "waiting", mutant)
    monkeypatch.setattr(taking_part, "waiting", mutant)
    if mutant is takes_windows_before_the_first_start:
        monkeypatch.setattr(taking_part.verification, "windows_refused", lambda *_: {})
    run_until_noticed()


def test_the_oracle_notices_a_resend_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown session taken for one that has not counted."""
    original = settling.settle

    def careless(state: State, pending: Any, outcome: Settle, *, now: float) -> None:
        original(state, pending, Settle(outcome.counted, outcome.again + outcome.given_up), now=now)

    monkeypatch.setattr(settling, "settle", careless)
    run_until_noticed()
