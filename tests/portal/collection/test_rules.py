"""What the database refuses to every writer, with raw SQL on both databases."""

import uuid

import pytest
from django.db import IntegrityError, connection, transaction

from aggregation.protocol.sealing import SessionKeys
from portal.audit.services import move
from portal.collection import gathering
from portal.collection.completing import complete
from portal.collection.models import HandOver, Hold, Partial, Receipts, Session
from portal.collection.placing import bury
from portal.tasks.models import Population, TaskWindow
from tests.portal.collection.collecting import MIN, release

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"


def refused(statement, *values):
    """Whether the database refuses it, with one of our sentences or a constraint's name."""
    with (
        pytest.raises(IntegrityError) as found,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
    return str(found.value)


def insert(model, **fields):
    """INSERT with plain SQL, as whoever has the database's password would."""
    names = ", ".join(f'"{name}"' for name in fields)
    marks = ", ".join(["%s"] * len(fields))
    return refused(
        f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({marks})", *fields.values()
    )


def a_partial(collecting, run, **changed):
    now = collecting.clock.now()
    usual = {
        "id": uuid.uuid4().hex, "window_id": collecting.window(FIRST).pk, "level": 1,
        "session_id": run.row.pk, "key_day": now.date(), "body": b"x", "created_at": now,
        "expires_at": now, "state": "stored",
    }  # fmt: skip
    return insert(Partial, **{**usual, **changed})


@pytest.fixture
def done(collecting):
    """A flushed session with a partial and receipts."""
    run = collecting.by_hand([FIRST], MIN)
    complete(run)
    return run


def test_a_partial_needs_a_session_that_completes(collecting):
    run = collecting.by_hand([FIRST], 1)
    assert "completes and holds" in a_partial(collecting, run)
    assert "level_1_is_a_session" in a_partial(collecting, run, session_id=None)


def test_a_partial_needs_a_hold(collecting):
    run = collecting.by_hand([FIRST], 1)
    Hold.objects.all().delete()
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "completes and holds" in a_partial(collecting, run)


def test_a_partial_needs_a_window_in_grace(collecting):
    run = collecting.by_hand([FIRST], 1)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    move(collecting.window(FIRST), to=TaskWindow.State.RELEASING, clock=collecting.clock)
    assert "window in grace" in a_partial(collecting, run)
    level_2 = {"level": 2, "session_id": None}
    assert "window in grace" in a_partial(collecting, run, **level_2)


def test_a_partial_begins_as_stored(collecting):
    run = collecting.by_hand([FIRST], 1)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "begins as stored" in a_partial(collecting, run, state="merged")


def test_a_flushed_session_adds_nothing(collecting, done):
    assert a_partial(collecting, done)
    window = collecting.window(FIRST).pk
    other = collecting.by_hand([FIRST], 1)
    for session in (done.row.pk, other.row.pk):
        assert insert(
            Receipts, session_id=session, window_id=window, flushed_by_id=done.row.pk, ids=b"8" * 8
        )


def test_receipts_come_with_a_partial(collecting):
    run = collecting.by_hand([FIRST], 1)
    fields = {"session_id": run.row.pk, "window_id": collecting.window(FIRST).pk,
              "flushed_by_id": run.row.pk}  # fmt: skip
    assert "come with the partial" in insert(Receipts, **fields, ids=b"12345678")
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "come with the partial" in insert(Receipts, **fields, ids=b"12345678")
    assert insert(Receipts, **fields, ids=b"1234567")


@pytest.mark.parametrize(
    "change",
    [
        "body = 'y'", "level = 2", "key_day = '2026-01-01'", "expires_at = '2030-01-01'",
        "state = 'erased'", "state = 'expired'", "id = 'other'",
    ],
)  # fmt: skip
def test_a_partial_never_changes(done, change):
    if "body" in change and connection.vendor == "postgresql":
        change = r"body = '\x79'"
    assert refused(f"UPDATE collection_partial SET {change}")


def test_a_body_is_emptied_once_and_for_good(done):
    Partial.objects.update(state="expired", body=b"")
    assert refused("UPDATE collection_partial SET state = 'stored'")
    with pytest.raises(IntegrityError), transaction.atomic():
        Partial.objects.update(body=b"back")


@pytest.mark.parametrize("table", ["session", "partial", "receipts", "handover"])
def test_nothing_is_removed(collecting, done, table):
    if table == "handover":
        taker = collecting.start(*collecting.place())
        run = collecting.by_hand([FIRST], 5)
        run.row.reason = Session.Reason.FULL
        complete(run)
        assert HandOver.objects.get().successor_id == taker.pk
    assert refused(f"DELETE FROM collection_{table}")


@pytest.mark.parametrize(
    "change",
    [
        "state = 'open'", "state = 'dead'", "state = 'completing'", "reason = 'other'",
        "worker = 'me'", "public_key = 'mine'", "counts = '{}'",
        "ended_at = '2030-01-01T00:00:00Z'",
    ],
)  # fmt: skip
def test_a_session_that_is_over_stays_as_it_is(done, change):
    assert refused(f"UPDATE collection_session SET {change}")


@pytest.mark.parametrize("state", ["flushed", "opening", "nothing"])
def test_states_are_taken_in_order(collecting, state):
    collecting.by_hand([FIRST], 1)
    assert refused(f"UPDATE collection_session SET state = '{state}'")


@pytest.mark.parametrize("column", ["public_key", "signature", "collects_id", "revision_id"])
def test_an_open_session_keeps_its_key_and_its_task(collecting, column):
    collecting.by_hand([FIRST], 1)
    value = "7" if column.endswith("_id") else "'mine'"
    assert refused(f"UPDATE collection_session SET {column} = {value}")


def test_a_session_is_born_opening_for_an_approved_revision(collecting):
    usual = {
        "id": "0" * 32, "revision_id": collecting.revision.pk, "worker": "", "public_key": "k",
        "signature": "s", "state": "open", "reason": "", "requested_at": collecting.clock.now(),
        "opened_at": collecting.clock.now(), "counts": "{}",
    }  # fmt: skip
    assert "begins as opening" in insert(Session, **usual)


def test_a_hold_needs_an_open_window(collecting):
    run = collecting.by_hand([FIRST], 1)
    second = collecting.window(SECOND)
    fields = {"session_id": run.row.pk, "window_id": second.pk}
    assert "open window" in insert(Hold, **fields)
    assert refused("UPDATE collection_hold SET window_id = %s", second.pk)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "given up by an open session" in refused("DELETE FROM collection_hold")


def test_a_hold_is_refused_once_somebody_collects(collecting):
    from portal.collection.gathering import gather

    collecting.go_to("2026-11-20T00:00:00")
    with gather(window=collecting.window(FIRST), clock=collecting.clock):
        run = collecting.by_hand([SECOND], 1)
        window = collecting.window(FIRST).pk
        assert insert(Hold, session_id=run.row.pk, window_id=window)
    assert insert(Hold, session_id=run.row.pk, window_id=window)


def test_a_hand_over_needs_both_sides(collecting):
    window = collecting.window(FIRST).pk
    one, two = collecting.by_hand([FIRST], 1), collecting.by_hand([FIRST], 1)
    fields = {"window_id": window, "received": False}
    assert "from a session that completes" in insert(
        HandOver, session_id=one.row.pk, successor_id=two.row.pk, **fields
    )
    for run in (one, two):
        assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    assert "to an open session" in insert(
        HandOver, session_id=one.row.pk, successor_id=two.row.pk, **fields
    )
    assert insert(HandOver, session_id=one.row.pk, successor_id=one.row.pk, **fields)


def test_what_is_dead_is_handed_nothing_unless_it_stands_for_the_next_collector(collecting):
    collecting.go_to("2026-11-19T00:00:00")
    run, dead = collecting.by_hand([FIRST], 1), collecting.by_hand([FIRST], 1)
    bury(dead.row, Session.Reason.LOST, clock=collecting.clock)
    collecting.go_to("2026-11-20T00:00:01")
    collector = gathering._opened_collector(
        collecting.window(FIRST), SessionKeys.fresh(), "hand", collecting.clock
    )
    bury(collector, Session.Reason.FAULT, clock=collecting.clock)
    assert move(run.row, to=Session.State.COMPLETING, clock=collecting.clock)
    fields = {"session_id": run.row.pk, "received": False}
    window, other = (collecting.window(one).pk for one in (FIRST, SECOND))
    assert "to an open session" in insert(
        HandOver, successor_id=dead.row.pk, window_id=window, **fields
    )
    assert "to an open session" in insert(
        HandOver, successor_id=collector.pk, window_id=other, **fields
    )
    HandOver.objects.create(successor=collector, window_id=window, **fields)


def test_receipts_never_change_and_go_with_their_window(collecting, done):
    statement = "UPDATE collection_receipts SET ids = %s"
    assert "never change" in refused(statement, b"12345678")
    window = collecting.window(FIRST)
    move(window, to=TaskWindow.State.RELEASING, clock=collecting.clock)
    assert refused("DELETE FROM collection_receipts")
    release(collecting, FIRST)
    assert Receipts.objects.all().delete()[0] == 1


def test_a_population_stays(collecting):
    assert Population.objects.get().name == "all"
    assert refused("UPDATE tasks_population SET name = 'none'")
    assert refused("DELETE FROM tasks_population")
