"""The heartbeat's work on windows: charging ahead, opening, skipping."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from portal.ledger.models import Charge, Week
from portal.ledger.services import reserve
from portal.notifications.models import Event
from portal.tasks import jobs, opening, services
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.shortage import shortages

pytestmark = pytest.mark.databases


def states(task):
    return dict(task.windows.values_list("window", "state"))


def beat(clock):
    """What the two jobs do, on a clock of the test's own."""
    for task in opening.tasks_with_due_windows(clock.now()):
        opening.advance_windows(task=task, clock=clock)
    for task in opening.tasks_to_extend():
        opening.extend_windows(task=task, clock=clock)


def test_it_works(active, clock):
    task = active(grace=48)
    clock.set(datetime(2026, 11, 23, tzinfo=UTC))
    beat(clock)
    assert states(task)["2026-11-23"] == "collecting"
    assert "2026-12-21" in states(task)
    clock.set(datetime(2026, 11, 30, tzinfo=UTC))
    beat(clock)
    assert (states(task)["2026-11-23"], states(task)["2026-11-30"]) == ("grace", "collecting")
    assert task.windows.get(window="2026-11-23").due_at == datetime(2026, 12, 2, tzinfo=UTC)


def test_asking_again_changes_nothing(active, clock):
    task = active(unit="hour", grace=1, epsilon="0.02")
    beat(clock)
    before = (states(task), Charge.objects.count())
    beat(clock)
    assert (states(task), Charge.objects.count()) == before
    # The rest of this week and the four after it, from 13:00 on Monday.
    assert len(before[0]) == 5 * 168 - 13


def test_every_window_that_opens_was_charged_first(active, clock):
    """Half a year of a task beside another that takes what is left, now and then."""
    task = active(epsilon=3)
    for number in range(26):
        clock.advance(timedelta(weeks=1))
        if number % 3 == 0:
            ahead = datetime(2027, 1, 4, tzinfo=UTC) + timedelta(weeks=number)
            Week.objects.get_or_create(stream="trips", monday=ahead.date(), defaults={"cap": 400})
            week = Week.objects.get(monday=ahead.date())
            if week.left >= 200:
                label = ahead.date().isoformat()
                Charge.objects.create(week=week, task="other", window=label, amount=200)
        beat(clock)
    assert all(week.reserved + week.spent <= week.cap for week in Week.objects.all())
    opened = TaskWindow.objects.filter(task=task).exclude(state__in=["skipped", "upcoming"])
    charged = set(Charge.objects.filter(task=task.name).values_list("window", flat=True))
    assert opened.count() > 10
    assert set(opened.values_list("window", flat=True)) <= charged
    skipped = TaskWindow.objects.filter(task=task, state="skipped")
    assert skipped.count() >= 3
    assert not charged & set(skipped.values_list("window", flat=True))


def test_a_week_that_does_not_fit_is_skipped_with_its_reason(active, ada, clock):
    task = active(epsilon=3)
    taken = datetime(2026, 12, 21, tzinfo=UTC)
    week = Week.objects.create(stream="trips", monday=taken.date(), cap=400)
    Charge.objects.create(week=week, task="other", window="2026-12-21", amount=200)
    clock.set(taken - timedelta(days=1))
    beat(clock)
    assert "2026-12-21" not in states(task)
    assert "2026-12-28" in states(task)
    clock.set(taken + timedelta(hours=1))
    beat(clock)
    row = task.windows.get(window="2026-12-21")
    assert row.state == "skipped"
    assert row.reason == "Too little ε was left for trips in 2026-W52 when this window began."
    event = Event.objects.get(kind="taskwindow.skipped")
    assert event.notifications.get().recipient == ada
    assert event.link == f"/tasks/{task.name}#windows"


def test_a_shortage_is_told_once_while_something_can_be_done(active, ada, clock):
    task = active(epsilon=3)
    week = Week.objects.create(stream="trips", monday="2026-12-21", cap=400)
    other = Charge.objects.create(week=week, task="other", window="2026-12-21", amount=200)
    clock.advance(timedelta(weeks=1))
    beat(clock)
    beat(clock)
    event = Event.objects.get(kind="task.budget_short")
    assert event.title == f"{task.name} has too little ε of trips for 2026-W52"
    assert "2026-W52 has ε 2 of trips left, and this task needs 3 there." in event.body
    assert "before 2026-12-21 00:00 UTC" in event.body
    assert event.notifications.get().recipient == ada
    assert event.link == f"/tasks/{task.name}#short"
    [short] = shortages(task, clock.now())
    assert (short.week, short.left, short.wanted) == ("2026-W52", 200, 300)
    Charge.objects.filter(pk=other.pk).update(state="freed")
    assert shortages(task, clock.now()) == []
    beat(clock)
    assert Event.objects.filter(kind="task.budget_short").count() == 1


def test_a_task_that_does_not_run_lacks_nothing(active, submitted, ada, clock):
    task = active(epsilon=3)
    week = Week.objects.create(stream="trips", monday="2026-12-21", cap=400)
    Charge.objects.create(week=week, task="other", window="2026-12-21", amount=200)
    services.pause(task=task, reason="", actor=ada, clock=clock)
    clock.advance(timedelta(weeks=1))
    beat(clock)
    assert shortages(task, clock.now()) == []
    assert shortages(submitted("other").task, clock.now()) == []
    assert not Event.objects.filter(kind="task.budget_short").exists()


def test_a_week_is_charged_once_it_fits(active, clock):
    task = active(epsilon=3)
    taken = datetime(2026, 12, 21, tzinfo=UTC)
    week = Week.objects.create(stream="trips", monday=taken.date(), cap=400)
    other = Charge.objects.create(week=week, task="other", window="2026-12-21", amount=200)
    clock.advance(timedelta(weeks=1))
    beat(clock)
    assert "2026-12-21" not in states(task)
    Charge.objects.filter(pk=other.pk).update(state="freed")
    beat(clock)
    assert states(task)["2026-12-21"] == "upcoming"


def test_days_of_a_week_are_charged_together(active, clock):
    task = active(unit="day", epsilon="0.5")
    clock.set(datetime(2026, 11, 23, tzinfo=UTC))
    week = Week.objects.create(stream="trips", monday="2026-12-21", cap=400)
    Charge.objects.create(week=week, task="other", window="2026-12-21", amount=100)
    beat(clock)
    assert not [window for window in states(task) if window > "2026-12-20"]


def test_a_month_that_is_far_away_is_charged_all_the_same(active, clock):
    clock.set(datetime(2026, 3, 1, 1, tzinfo=UTC))
    task = active(unit="month", epsilon=1)
    assert states(task) == {"2026-04-01": "upcoming"}
    assert Week.objects.filter(reserved=100).count() == 5


@pytest.mark.parametrize("missing", [None, *range(5)])
def test_a_month_opens_if_each_week_that_it_overlaps_is_charged(active, clock, missing):
    clock.set(datetime(2026, 3, 1, 1, tzinfo=UTC))
    task = active(unit="month", epsilon=1)
    if missing is not None:
        charge = Charge.objects.order_by("week__monday")[missing]
        Charge.objects.filter(pk=charge.pk).update(state="freed")
    clock.set(datetime(2026, 4, 1, tzinfo=UTC))
    beat(clock)
    assert states(task)["2026-04-01"] == ("collecting" if missing is None else "skipped")


def test_a_clock_set_back_runs_no_window_twice(active, revise, approve, clock):
    task = active()
    clock.set(datetime(2026, 11, 24, tzinfo=UTC))
    beat(clock)
    clock.set(datetime(2026, 11, 17, tzinfo=UTC))
    second = approve(revise(task, clip=30))
    assert second.first_window == datetime(2026, 11, 30, tzinfo=UTC)
    assert task.windows.get(window="2026-11-23").revision.number == 1


def test_the_system_was_down_for_a_while(active, clock):
    """Windows that came and went meanwhile are on record, in order."""
    task = active()
    clock.advance(timedelta(weeks=9))
    beat(clock)
    found = states(task)
    assert list(found.values())[:3] == ["grace", "grace", "grace"]
    starts = list(task.windows.order_by("start").values_list("start", flat=True))
    assert all(b - a == timedelta(7) for a, b in pairwise(starts))
    assert found["2027-01-18"] == "skipped"
    assert "was not running" in task.windows.get(window="2027-01-18").reason
    assert found["2027-01-25"] == "upcoming"


def test_the_jobs_find_their_work(active, settings, monkeypatch, clock):
    task = active()
    clock.set(datetime(2026, 11, 23, 1, tzinfo=UTC))
    monkeypatch.setattr(jobs, "civil_clock", lambda: clock)
    jobs.advance_windows()
    jobs.extend_windows()
    assert states(task)["2026-11-23"] == "collecting"
    assert states(task)["2026-12-21"] == "upcoming"


def test_a_paused_task_charges_no_further_weeks(active, ada, clock):
    task = active()
    services.pause(task=task, reason="", actor=ada, clock=clock)
    clock.advance(timedelta(weeks=3))
    beat(clock)
    assert max(states(task)) == "2026-12-14"
    assert Task.objects.get().state == "paused"


def test_a_replaced_revision_charges_nothing(active, revise, approve, clock):
    task = active()
    approve(revise(task, epsilon=2))
    first = Revision.objects.get(number=1)
    opening._extend_by(task, first, [], clock=clock)
    clock.advance(timedelta(weeks=2))
    beat(clock)
    later = task.windows.filter(start__gt=clock.now())
    assert set(later.values_list("revision__number", flat=True)) == {2}
    assert set(Week.objects.values_list("reserved", flat=True)) == {200}


def test_a_task_that_does_not_fit_is_not_activated(active, submitted, approve, clock):
    from aggregation.protocol.windows import Unit, Window
    from portal.ledger.services import NotEnough

    third = Window.parse("2026-12-07", Unit.WEEK)
    revision = submitted(epsilon=2)
    reserve(task="other", streams=["trips"], windows=[third], hundredths=250, clock=clock)
    with pytest.raises(NotEnough, match="2026-W50"):
        approve(revision)
    assert Task.objects.get(name=revision.task.name).state == "draft"
    assert not Charge.objects.exclude(task="other").exists()
