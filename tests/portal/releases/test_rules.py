"""What the database refuses to every writer, with raw SQL on both databases."""

import pytest
from django.db import DatabaseError, connection, transaction

from portal.audit.services import move
from portal.collection.flushing import SessionOver, flush
from portal.collection.leaving import make_ready
from portal.collection.models import Partial, Receipts, Session
from portal.collection.placing import bury
from portal.ledger.models import Charge
from portal.releases import running
from portal.releases.models import Release, Rendering
from portal.tasks.models import TaskWindow
from tests.portal.collection.collecting import MIN
from tests.portal.releases.test_releasing import DUE, FIRST, SECOND

pytestmark = pytest.mark.databases


@pytest.fixture
def released(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    return Release.objects.get()


def refused(act) -> str:
    with pytest.raises(DatabaseError) as found, transaction.atomic():
        act()
    return str(found.value)


def refused_sql(statement: str, *values) -> str:
    def act() -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)

    return refused(act)


TABLES = ["releases_release", "releases_rendering"]


@pytest.mark.parametrize("table", TABLES)
def test_no_row_is_changed_removed_or_emptied(released, table):
    columns = {
        "releases_release": ["noised_sha256", "card", "signature", "audience", "released_at"],
        "releases_rendering": ["manifest", "signature", "rendered_at"],
    }[table]
    for column in columns:
        assert "append-only" in refused_sql(f"UPDATE {table} SET {column} = {column}")
    assert "append-only" in refused_sql(f"DELETE FROM {table}")
    if connection.vendor == "postgresql":
        assert "append-only" in refused_sql(f"TRUNCATE {table} CASCADE")


def test_the_numbers_are_not_replaced(released):
    rows = Release.objects.filter(pk=released.pk)
    assert refused(lambda: rows.update(noised=b"other"))
    released.noised = b"other"
    assert refused(released.save)
    assert refused(released.delete)
    assert refused(lambda: Rendering.objects.get().delete())
    columns = "id, window_id, released_at, audience, noised, noised_sha256, card, signature"
    again = columns.replace("noised,", "'x',", 1)
    source = f"({columns}) SELECT {again} FROM releases_release"
    if connection.vendor == "sqlite":
        assert refused_sql(f"INSERT OR REPLACE INTO releases_release {source}")
        other = source.replace("SELECT id", "SELECT id + 1")
        assert refused_sql(f"INSERT OR REPLACE INTO releases_release {other}")
    else:
        on_conflict = "ON CONFLICT (id) DO UPDATE SET noised = 'x'"
        assert refused_sql(f"INSERT INTO releases_release {source} {on_conflict}")
    assert bytes(Release.objects.get().noised) != b"x"


def test_a_release_begins_with_a_window_that_is_releasing(collecting, released):
    fields = {"released_at": collecting.clock.now(), "noised": b"", "audience": "internal"}
    for window in (FIRST, SECOND):
        row = collecting.window(window)
        assert refused(lambda row=row: Release.objects.create(window=row, **fields))
    assert Release.objects.count() == 1


def test_a_window_is_released_with_its_release_and_its_cost(collecting):
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    move(window, to=TaskWindow.State.RELEASING, clock=collecting.clock)

    def to_released() -> str:
        sentence = "UPDATE tasks_taskwindow SET state = 'released' WHERE id = %s"
        return refused_sql(sentence, window.pk)

    assert "released with its release" in to_released()
    Release.objects.create(window=window, released_at=collecting.clock.now(), noised=b"")
    assert "its cost is spent" in to_released()
    Charge.objects.filter(window=FIRST).update(state="spent")
    assert move(window, to=TaskWindow.State.RELEASED, clock=collecting.clock)


def test_a_late_flush_leaves_nothing(collecting):
    """A session that was declared dead, and comes back when its window is released."""
    zombie = collecting.by_hand([FIRST], MIN)
    assert move(zombie.row, to=Session.State.COMPLETING, clock=collecting.clock)
    leaving = make_ready(
        session=zombie.row,
        summing=zombie.summing,
        open_windows=list(zombie.windows),
        handing_over=[],
        clock=collecting.clock,
    )
    bury(Session.objects.get(pk=zombie.row.pk), Session.Reason.LOST, clock=collecting.clock)
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.count() == 1
    with pytest.raises(SessionOver):
        flush(session=zombie.row, leaving=leaving, takers={}, clock=collecting.clock)
    assert not Partial.objects.exists()
    assert not Receipts.objects.exists()
