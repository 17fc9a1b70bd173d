"""The high watermark only goes up; the low one follows the clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.windows import Unit, Window
from devices_sim.device.once_only import Stage
from devices_sim.device.settling import forget_closed
from devices_sim.device.state import Budget, Pending, Progress, State
from devices_sim.device.watermarks import (
    MAX_DONE,
    distance,
    is_processed,
    process,
    waiting,
    windows_of,
)

FIRST = Window.parse("2026-11-09", Unit.DAY)


def day(number: int) -> Window:
    return Window.containing(FIRST.start + timedelta(days=number), Unit.DAY)


def test_the_high_watermark_moves_over_what_is_processed() -> None:
    progress = Progress(Unit.DAY, high=FIRST.id)
    process(progress, day(1))
    assert (progress.high, progress.done) == (FIRST.id, [day(1).id])
    process(progress, day(0))
    assert (progress.high, progress.done) == (day(2).id, [])


def test_a_gap_stays_open_as_long_as_it_can_be_remembered() -> None:
    progress = Progress(Unit.DAY, high=FIRST.id)
    for number in range(1, MAX_DONE + 1):
        process(progress, day(number))
    assert not is_processed(progress, day(0))
    process(progress, day(MAX_DONE + 1))
    assert is_processed(progress, day(0))


def test_what_is_processed_does_not_go_again_and_the_others_do() -> None:
    again = {day(number).id: "a" * 64 for number in (0, 1, 2)}
    progress = Progress(Unit.DAY, high=FIRST.id, again=again)
    process(progress, day(1))
    assert sorted(progress.again) == [day(0).id, day(2).id]
    process(progress, day(0))
    assert list(progress.again) == [day(2).id]  # which is the high watermark now


A, B = "a" * 64, "b" * 64


def pending(task: str, client_task: str, *windows: Window) -> Pending:
    return Pending(
        task=task,
        client_task=client_task,
        session="5" * 32,
        update="7" * 16,
        token="",
        unit=Unit.DAY,
        windows=tuple(window.id for window in windows),
        streams=(),
        stage=Stage.STORED,
        sealed=b"",
    )


def ids(state: State, *, now: datetime | None = None, client_task: str = A) -> list[int]:
    """Which of the first three days the task `mine` may run."""
    listed = windows_of(tuple(day(n).id for n in (2, 0, 1, 1)), Unit.DAY)
    assert listed is not None
    moment = (now or day(3).start).timestamp()
    found = waiting(state, listed, task="mine", client_task=client_task, now=moment)
    return [(window.start - FIRST.start).days for window in found]


def test_every_condition_keeps_a_window_back_on_its_own() -> None:
    """Each state differs from the first in one thing."""
    start = FIRST.start.timestamp()
    done = Progress(Unit.DAY, high=FIRST.id, done=[day(1).id])
    assert ids(State(1, started=start)) == [0, 1, 2]
    assert ids(State(1, started=start), now=day(2).end - timedelta(seconds=1)) == [0, 1]
    assert ids(State(1, started=start + 1)) == [1, 2]
    assert ids(State(1, started=start, tasks={"mine": done})) == [0, 2]
    assert ids(State(1, started=start, client_tasks={A: done})) == [0, 2]
    assert ids(State(1, started=start, tasks={"other": done}, client_tasks={B: done})) == [0, 1, 2]
    assert ids(State(1, started=start, pending=[pending("mine", B, day(1))])) == [0, 2]
    assert ids(State(1, started=start, pending=[pending("other", A, day(1))])) == [0, 2]
    assert ids(State(1, started=start, pending=[pending("other", B, day(1))])) == [0, 1, 2]


def test_a_window_that_goes_again_stays_with_its_client_task() -> None:
    again = Progress(Unit.DAY, high=FIRST.id, again={day(1).id: A})
    state = State(1, started=FIRST.start.timestamp(), tasks={"mine": again})
    assert ids(state) == [0, 1, 2]
    assert ids(state, client_task=B) == [0, 2]


@given(st.lists(st.integers(0, 200), max_size=150))
def test_what_is_processed_stays_so_and_the_watermark_never_goes_back(numbers: list[int]) -> None:
    progress = Progress(Unit.DAY, high=FIRST.id)
    seen: set[int] = set()
    for number in numbers:
        before = progress.high
        process(progress, day(number))
        seen.add(number)
        assert progress.high >= before
        assert all(is_processed(progress, day(each)) for each in seen)
        assert len(progress.done) <= MAX_DONE
        assert progress.done == sorted(set(progress.done))
    if len(seen) < MAX_DONE:
        assert not any(is_processed(progress, day(n)) for n in set(range(201)) - seen)


def test_a_window_that_goes_again_is_forgotten_once_passed() -> None:
    progress = Progress(Unit.DAY, high=FIRST.id, again={day(0).id: "a" * 64})
    for number in range(1, MAX_DONE + 2):
        process(progress, day(number))
    assert progress.high == day(MAX_DONE + 2).id
    assert progress.again == {}


@pytest.mark.parametrize(
    ("unit", "left", "right", "expected"),
    [
        (Unit.HOUR, "2026-11-09T00", "2026-11-08T21", 3),
        (Unit.DAY, "2026-11-09", "2026-11-09", 0),
        (Unit.WEEK, "2026-11-09", "2026-11-23", 2),
        (Unit.MONTH, "2027-02-01", "2026-11-01", 3),
        (Unit.MONTH, "2026-01-01", "2027-12-01", 23),
    ],
)
def test_distances_are_counted_in_windows(unit: Unit, left: str, right: str, expected: int) -> None:
    assert distance(Window.parse(left, unit), Window.parse(right, unit)) == expected


def test_a_list_is_in_order_and_names_each_window_once() -> None:
    listed = windows_of(("2026-11-16", "2026-11-09", "2026-11-16"), Unit.WEEK)
    assert [window.id for window in listed or ()] == ["2026-11-09", "2026-11-16"]


def test_a_list_with_one_bad_id_is_no_list() -> None:
    assert windows_of(("2026-11-09", "2026-11-10"), Unit.WEEK) is None
    assert windows_of(("2026-11-09", "2026-11-16"), Unit.WEEK) is not None


def test_tasks_of_closed_weeks_are_forgotten() -> None:
    state = State(1, started=0.0, budget=Budget(floor="2026-11-09"))
    state.tasks = {
        "ended": Progress(Unit.DAY, high="2026-11-09"),
        "going-on": Progress(Unit.DAY, high="2026-11-10"),
        "on-its-way": Progress(Unit.DAY, high="2026-11-02"),
        "again": Progress(Unit.DAY, high="2026-11-02", again={"2026-11-12": "c" * 64}),
    }
    state.client_tasks = {
        "c" * 64: Progress(Unit.DAY, high="2026-11-02"),
        "d" * 64: Progress(Unit.DAY, high="2026-11-02"),
    }
    state.pending = [pending("on-its-way", "e" * 64, day(1))]
    forget_closed(state)
    assert sorted(state.tasks) == ["again", "going-on", "on-its-way"]
    assert list(state.client_tasks) == ["c" * 64]


@pytest.mark.parametrize("unit", [Unit.DAY, Unit.WEEK])
def test_a_window_that_begins_where_the_ledger_is_open_is_remembered(unit: Unit) -> None:
    """It was run, and the one before it never: the first of the week that is not closed."""
    first = Window.parse("2026-11-09", unit)
    state = State(1, started=0.0, budget=Budget(floor=first.id))
    state.tasks["t"] = Progress(unit, high=first.previous().id)
    process(state.tasks["t"], first)
    forget_closed(state)
    now = first.next().span[1]
    assert waiting(state, [first], task="t", client_task="c" * 64, now=now) == []
