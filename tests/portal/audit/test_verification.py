"""A change behind the database's back is found and stays on record."""

import pytest
from django.db import connection

from portal.audit.models import Entry, Head
from portal.audit.services import record
from portal.audit.verification import verify_log

pytestmark = pytest.mark.databases


@pytest.fixture
def log(person, clock):
    someone = person("analyst")
    for number in range(5):
        record(action=f"test.{number}", subject=someone, clock=clock)


def test_a_sound_chain_is_verified_from_where_it_was_left(log, person, clock):
    assert verify_log(whole=False).seq == 5
    record(action="test.more", subject=person("analyst"), clock=clock)
    found = verify_log(whole=False)
    assert (found.seq, found.problem) == (6, "")
    assert found.whole_at is not None


@pytest.mark.parametrize(
    ("tampering", "sentence"),
    [
        ("UPDATE audit_entry SET actor = 'mallory' WHERE seq = 3", "Entry 3 has been changed"),
        ("DELETE FROM audit_entry WHERE seq = 3", "Entry 3 is missing"),
        ("DELETE FROM audit_entry WHERE seq = 5", "ends at entry 4, but 5 were written"),
        ("UPDATE audit_entry SET hash = 'x', previous = 'y' WHERE seq = 2", "does not follow"),
    ],
)
def test_tampering_is_found(log, tampering, sentence):
    without_triggers(tampering)
    assert sentence in verify_log(whole=True).problem
    assert sentence in verify_log(whole=False).problem


def test_a_forged_tail_with_a_forged_head_is_found_if_it_was_verified_before(log):
    verify_log(whole=False)
    without_triggers("DELETE FROM audit_entry WHERE seq > 3")
    third = Entry.objects.get(seq=3)
    Head.objects.update(seq=3, hash=third.hash)
    assert "Entries 4 to 5 were there" in verify_log(whole=False).problem


def without_triggers(statement):
    """What someone with the database's own password can do."""
    table = "audit_entry"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(statement)
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        else:
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
                [table],
            )
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f'DROP TRIGGER "{name}"')
            cursor.execute(statement)
            for _, text in triggers:
                cursor.execute(text)


def test_a_break_found_by_another_verification_is_not_overwritten(log):
    from portal.audit.models import Verification
    from portal.audit.verification import Sound, _remember

    known = verify_log(whole=False)
    without_triggers("UPDATE audit_entry SET actor = 'mallory' WHERE seq = 3")
    problem = verify_log(whole=True).problem
    _remember(known, Sound(5, known.hash), whole=True)
    assert Verification.objects.get(pk=1).problem == problem != ""
