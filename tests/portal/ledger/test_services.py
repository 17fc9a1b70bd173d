"""Reserving, spending and freeing ε, on both databases."""

import threading
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import IntegrityError, connection, transaction

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from portal.audit.models import Entry
from portal.ledger import services
from portal.ledger.amounts import hundredths_of, in_words
from portal.ledger.models import Charge, Week
from portal.ledger.selectors import left_in
from portal.ledger.weeks import mondays
from portal.problems import Conflict

pytestmark = pytest.mark.databases


def windows(first, unit=Unit.DAY, count=1):
    found = [Window.parse(first, unit)]
    while len(found) < count:
        found.append(found[-1].next())
    return found


@pytest.fixture
def reserve(db, clock):
    def do(task, found, hundredths, *, streams=("trips",), **more):
        services.reserve(
            task=task, streams=streams, windows=found, hundredths=hundredths, clock=clock, **more
        )

    return do


def test_it_works(reserve, clock):
    reserve("daily", windows("2026-11-23", count=7), 50)
    week = Week.objects.get()
    assert (week.stream, week.monday, week.cap) == ("trips", date(2026, 11, 23), 400)
    assert (week.reserved, week.spent, week.left) == (350, 0, 50)
    services.spend(task="daily", windows=windows("2026-11-23"), clock=clock)
    services.settle(task="daily", spent=(), freed=windows("2026-11-29"), clock=clock)
    week.refresh_from_db()
    assert (week.reserved, week.spent, week.left) == (250, 50, 100)


def test_a_window_costs_every_week_it_overlaps(reserve):
    december = Window.parse("2026-12-01", Unit.MONTH)
    reserve("monthly", [december], 100)
    assert mondays(december) == list(Week.objects.values_list("monday", flat=True))
    assert mondays(december)[0] == date(2026, 11, 30)
    assert mondays(december)[-1] == date(2026, 12, 28)
    assert set(Week.objects.values_list("reserved", flat=True)) == {100}


def test_every_stream_of_a_task_is_charged(reserve):
    reserve("both", windows("2026-11-23"), 100, streams=("assistant", "trips"))
    assert list(Week.objects.values_list("stream", "reserved")) == [
        ("assistant", 100),
        ("trips", 100),
    ]


def test_all_is_reserved_or_nothing(reserve):
    reserve("big", windows("2026-11-30", Unit.WEEK), 350)
    with pytest.raises(services.NotEnough, match=r"ε 1 in 2026-W49, and 0.5 of 4 is left"):
        reserve("late", windows("2026-11-23", Unit.WEEK, 2), 100)
    assert list(Charge.objects.values_list("task", flat=True)) == ["big"]


def test_a_refusal_names_what_all_windows_of_a_week_would_cost(reserve):
    with pytest.raises(services.NotEnough, match=r"ε 4\.2 in 2026-W48, and 4 of 4 is left"):
        reserve("daily", windows("2026-11-23", count=7), 60)
    assert not Week.objects.exists()


def test_an_amount_is_counted_in_hundredths_and_never_rounded():
    assert [hundredths_of(epsilon) for epsilon in ("1.5", "0.01", "3")] == [150, 1, 300]
    for epsilon in ("0.005", "1.501", "2.999"):
        with pytest.raises(Problem, match="more than two places"):
            hundredths_of(epsilon)


def test_a_forgotten_week_stays_used_up_whatever_the_cap(reserve, clock, settings):
    """A backup from before the cap was raised knows the old one; more may have been spent."""
    reserve("daily", windows("2026-11-23"), 100)
    settings.WEEKLY_EPSILON = 800
    forgotten = {"streams": ["trips"], "mondays": [date(2026, 11, 23)], "clock": clock}
    assert services.use_up(**forgotten) == 1
    week = Week.objects.get()
    assert (week.reserved, week.spent, week.left) == (100, 700, 0)
    for cap in (800, 1200):
        settings.WEEKLY_EPSILON = cap
        with pytest.raises(services.NotEnough):
            reserve("late", windows("2026-11-24"), 1)
        assert services.use_up(**forgotten) == 0
    services.settle(task="daily", spent=(), freed=windows("2026-11-23"), clock=clock)
    with pytest.raises(services.NotEnough):
        reserve("late", windows("2026-11-24"), 1)


def test_a_forgotten_week_that_was_used_up_stays_so(reserve, clock, settings):
    """The backup knows that nothing was left of it, by the cap of then."""
    reserve("daily", windows("2026-11-23"), 400)
    forgotten = {"streams": ["trips"], "mondays": [date(2026, 11, 23)], "clock": clock}
    assert services.use_up(**forgotten) == 0
    settings.WEEKLY_EPSILON = 800
    assert left_in(stream="trips", monday=date(2026, 11, 23)) == 0
    with pytest.raises(services.NotEnough):
        reserve("late", windows("2026-11-24"), 1)
    for change in ({"closed_at": None}, {"cap": 401}):
        with pytest.raises(IntegrityError, match="closed week stays closed"), transaction.atomic():
            Week.objects.update(**change)


def test_a_window_that_has_begun_is_neither_reserved_nor_freed(reserve, clock):
    with pytest.raises(Conflict, match="has begun"):
        reserve("daily", windows("2026-11-16"), 10)
    reserve("daily", windows("2026-11-17"), 10)
    clock.set(datetime(2026, 11, 17, tzinfo=UTC))
    with pytest.raises(Conflict, match="has begun"):
        services.settle(task="daily", spent=(), freed=windows("2026-11-17"), clock=clock)
    assert Week.objects.get().reserved == 10


def test_a_new_price_takes_the_place_of_the_old(reserve):
    days = windows("2026-11-23", count=7)
    reserve("daily", days, 50)
    reserve("daily", days, 57, instead_of=days)
    assert Week.objects.get().reserved == 7 * 57
    with pytest.raises(services.NotEnough):
        reserve("daily", days, 58, instead_of=days)
    assert Week.objects.get().reserved == 7 * 57


def test_a_charge_is_settled_once(reserve, clock):
    found = windows("2026-11-23")
    reserve("daily", found, 50)
    assert services.spend(task="daily", windows=found, clock=clock) == 1
    assert services.spend(task="daily", windows=found, clock=clock) == 0
    assert services.settle(task="daily", spent=(), freed=found, clock=clock) == 0
    assert Week.objects.get().spent == 50


def test_a_changed_cap_holds_from_then_on_but_takes_nothing_back(reserve, settings):
    reserve("first", windows("2026-11-23"), 300)
    settings.WEEKLY_EPSILON = 200
    with pytest.raises(services.NotEnough):
        reserve("second", windows("2026-11-24"), 1)
    assert Week.objects.get().reserved == 300
    settings.WEEKLY_EPSILON = 500
    reserve("second", windows("2026-11-24"), 200)
    assert (Week.objects.get().cap, Week.objects.get().left) == (500, 0)


def test_each_change_of_a_week_is_on_record(reserve):
    reserve("daily", windows("2026-11-23"), 50)
    entry = Entry.objects.get(action="ledger.reserved")
    assert entry.object_label == "trips in 2026-W48"
    assert entry.changes == [
        {"field": "task", "from": None, "to": "daily"},
        {"field": "reserved", "from": "0", "to": "0.5"},
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_week SET reserved = 0",
        "UPDATE ledger_week SET spent = 1",
        "UPDATE ledger_week SET cap = 10",
        "UPDATE ledger_week SET stream = 'other'",
        "UPDATE ledger_charge SET amount = amount + 1",
        "UPDATE ledger_charge SET task = 'other'",
        "DELETE FROM ledger_charge",
        "DELETE FROM ledger_week",
        'INSERT INTO ledger_charge (week_id, task, "window", amount, state) '
        "SELECT id, 'sly', '2026-11-24', 351, 'reserved' FROM ledger_week",
        'INSERT INTO ledger_charge (week_id, task, "window", amount, state) '
        "SELECT id, 'sly', '2026-11-24', 1, 'freed' FROM ledger_week",
    ],
)
def test_the_database_keeps_the_sums_and_the_cap(reserve, statement):
    reserve("daily", windows("2026-11-23"), 50)
    with pytest.raises(IntegrityError), transaction.atomic():
        connection.cursor().execute(statement)
    assert (Week.objects.get().reserved, Week.objects.get().cap) == (50, 400)


def test_a_charge_written_by_hand_is_counted(reserve):
    reserve("daily", windows("2026-11-23"), 50)
    Charge.objects.bulk_create(
        Charge(week=Week.objects.get(), task="sly", window=f"2026-11-{day}", amount=100)
        for day in (24, 25, 26)
    )
    assert Week.objects.get().reserved == 350


def test_a_settled_charge_stays_settled(reserve, clock):
    reserve("daily", windows("2026-11-23"), 50)
    services.spend(task="daily", windows=windows("2026-11-23"), clock=clock)
    for state in ("reserved", "freed"):
        with pytest.raises(IntegrityError), transaction.atomic():
            Charge.objects.update(state=state)


def test_many_writers_never_exceed_the_cap(own_database, clock):
    """16 threads ask for 1 of 4 in two weeks each, in both orders: exactly 4 get it."""
    both = windows("2026-11-23", Unit.WEEK, 2)
    outcomes = []

    def ask(number):
        with own_database():
            try:
                found = both if number % 2 else list(reversed(both))
                services.reserve(
                    task=f"t{number}", streams=("trips", "assistant"), windows=found,
                    hundredths=100, clock=clock,
                )  # fmt: skip
                outcomes.append("reserved")
            except services.NotEnough:
                outcomes.append("refused")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 12 + ["reserved"] * 4
    assert set(Week.objects.values_list("reserved", "cap")) == {(400, 400)}


@pytest.mark.parametrize(
    ("hundredths", "words"), [(0, "0"), (1, "0.01"), (50, "0.5"), (100, "1"), (1010, "10.1")]
)
def test_amounts_are_written_as_people_do(hundredths, words):
    assert in_words(hundredths) == words


def test_weeks_of_a_window_tile_it():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(40):
        month = Window.containing(moment + timedelta(days=27 * number), Unit.MONTH)
        found = mondays(month)
        assert all(b - a == timedelta(7) for a, b in pairwise(found))
        assert found[0] <= month.start.date() < found[0] + timedelta(7)
        assert found[-1] < month.end.date() <= found[-1] + timedelta(7)
