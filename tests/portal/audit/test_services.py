"""Recording, and moving from state to state, on both databases."""

import threading
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection, transaction

from portal.accounts.models import ApiToken
from portal.audit.models import GENESIS, Entry
from portal.audit.services import Change, move, record
from portal.audit.verification import verify_log

pytestmark = pytest.mark.databases


@pytest.fixture
def token(person):
    return ApiToken.objects.create(
        owner=person("analyst"),
        name="laptop",
        prefix="mfly_abc",
        sha256="a" * 64,
        created_at=datetime(2026, 11, 16, tzinfo=UTC),
        expires_at=datetime(2027, 2, 14, tzinfo=UTC),
    )


def test_it_works(token, clock):
    first = record(action="token.created", subject=token, actor=token.owner, clock=clock)
    second = record(
        action="token.renamed", subject=token, clock=clock, changes=[Change("name", "a", "b")]
    )
    assert first.previous == GENESIS
    assert second.previous == first.hash
    assert (first.actor, second.actor) == (token.owner.username, "system")
    assert second.changes == [{"field": "name", "from": "a", "to": "b"}]
    assert second.civil_at == clock.now()
    assert verify_log(whole=True).problem == ""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entry SET actor = 'nobody'",
        "DELETE FROM audit_entry",
        "TRUNCATE audit_entry",
        "INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry",
    ],
)
def test_the_database_refuses_to_change_or_remove_entries(token, clock, statement):
    if statement.startswith(("TRUNCATE", "INSERT")) and (
        statement.startswith("TRUNCATE") != (connection.vendor == "postgresql")
    ):
        statement = "DELETE FROM audit_entry"  # each of the two statements exists on one only
    record(action="token.created", subject=token, clock=clock)
    before = list(Entry.objects.values())
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(statement)
    assert list(Entry.objects.values()) == before


def test_an_entry_cannot_be_saved_again_or_deleted(token, clock):
    entry = record(action="token.created", subject=token, clock=clock)
    entry.actor = "nobody"
    for attempt in (entry.save, entry.delete, lambda: Entry.objects.update(actor="nobody")):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()


def test_moving_changes_the_state_and_writes_who_did_it(token, clock):
    assert move(token, to=ApiToken.State.REVOKED, actor=token.owner, clock=clock)
    token.refresh_from_db()
    assert token.state == ApiToken.State.REVOKED
    entry = Entry.objects.get()
    assert entry.action == "apitoken.revoked"
    assert entry.changes == [{"field": "state", "from": "active", "to": "revoked"}]


def test_only_the_first_of_two_moves_wins(token, clock):
    again = ApiToken.objects.get(pk=token.pk)
    assert move(token, to=ApiToken.State.REVOKED, clock=clock)
    assert not move(again, to=ApiToken.State.REVOKED, clock=clock)
    assert Entry.objects.count() == 1


def test_a_move_that_is_not_allowed_is_a_mistake_in_the_code(token, clock):
    move(token, to=ApiToken.State.REVOKED, clock=clock)
    with pytest.raises(ValueError, match="cannot move from revoked to active"):
        move(token, to=ApiToken.State.ACTIVE, clock=clock)


def test_a_rolled_back_move_leaves_no_entry(token, clock):
    with transaction.atomic():
        move(token, to=ApiToken.State.REVOKED, clock=clock)
        transaction.set_rollback(True)
    assert not Entry.objects.exists()


def test_concurrent_writers_never_fork_the_chain(own_database, clock):
    """8 threads × 10 entries: one unbroken chain of 80."""
    from portal.accounts.models import Person

    somebody = Person.objects.create(username="somebody")
    threads = [
        threading.Thread(target=_record_ten, args=(somebody, clock, own_database)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(Entry.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, 81))
    assert verify_log(whole=True).problem == ""


def _record_ten(somebody, clock, own_database):
    with own_database():
        for _ in range(10):
            record(action="test.written", subject=somebody, clock=clock)


def test_a_person_is_named_by_their_username_only(person, clock):
    mallory = person("analyst", username="mallory")
    mallory.full_name = "Operator"
    mallory.save()
    entry = record(action="person.changed", subject=mallory, actor=mallory, clock=clock)
    assert (entry.actor, entry.object_label) == ("mallory", "mallory")
