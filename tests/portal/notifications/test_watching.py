"""What people are told of because the audit log says so: once each, and nothing is missed."""

import threading

import pytest
from django.db import connection

from portal.accounts import services as accounts
from portal.accounts.models import Role
from portal.accounts.tokens import create_token
from portal.audit.models import Entry, Verification
from portal.audit.services import record
from portal.notifications.models import Event, Notification, Watch
from portal.notifications.watching import tell_of_new_entries

pytestmark = pytest.mark.databases


@pytest.fixture
def tell_all(clock):
    return lambda: tell_of_new_entries(clock=clock, machine=clock)


def the_notification():
    return Notification.objects.select_related("event").get()


def test_a_new_token_is_told_to_its_owner(person, clock, tell_all):
    ada = person("analyst", username="ada")
    create_token(owner=ada, name="laptop", scopes=["read", "author"], lifetime_days=30, clock=clock)
    assert tell_all() == 1
    told = the_notification()
    assert told.recipient == ada
    assert told.event.kind == "token.created"
    assert told.event.title == "An API token was made for ada: laptop"
    assert "the scopes read and author" in told.event.body
    assert "Made by ada on" in told.event.body
    assert told.event.link == "/account/tokens"


def test_a_changed_password_is_told_to_its_owner(person, clock, tell_all):
    ada = person("analyst", username="ada")
    accounts.change_password(person=ada, password="another long one", clock=clock)
    assert tell_all() == 1
    told = the_notification()
    assert (told.recipient, told.event.kind) == (ada, "password.changed")
    assert told.event.title == "The password of ada was changed"
    assert "API tokens made before that have ended." in told.event.body
    assert "another long one" not in told.event.body


def test_a_reset_password_is_told_to_its_owner(person, clock, tell_all):
    ada, olga = person("analyst", username="ada"), person("operator", username="olga")
    given = accounts.give_starting_password(person=ada, actor=olga, clock=clock)
    assert tell_all() == 1
    told = the_notification()
    assert (told.recipient, told.event.kind) == (ada, "password.reset")
    assert "Reset by olga on" in told.event.body
    assert "API tokens made before that have ended." in told.event.body
    assert given.password not in told.event.body


def test_all_roles_changed_at_once_are_told_in_one_notification(person, clock, tell_all):
    ada, olga = person("analyst", username="ada"), person("operator", username="olga")
    wanted = {Role.REVIEWER, Role.CONSUMER}
    accounts.change_roles(person=ada, roles=wanted, actor=olga, clock=clock)
    assert tell_all() == 1
    told = the_notification()
    assert (told.recipient, told.event.kind) == (ada, "roles.changed")
    assert told.event.body.startswith(
        "Granted: reviewer and consumer. Withdrawn: analyst. Changed by olga on"
    )


def test_two_people_whose_roles_change_are_told_separately(person, clock, tell_all):
    ada, ben, olga = person("analyst"), person("analyst"), person("operator")
    for somebody in (ada, ben):
        accounts.change_roles(person=somebody, roles={Role.REVIEWER}, actor=olga, clock=clock)
    assert tell_all() == 2
    assert {n.recipient for n in Notification.objects.all()} == {ada, ben}


def test_a_role_granted_and_withdrawn_again_is_told_as_two_things(person, clock, tell_all):
    ada, olga = person("analyst"), person("operator")
    for roles in ([Role.ANALYST, Role.REVIEWER], [Role.ANALYST]):
        accounts.change_roles(person=ada, roles=roles, actor=olga, clock=clock)
    assert tell_all() == 2
    bodies = [n.event.body.split(".")[0] for n in Notification.objects.order_by("pk")]
    assert bodies == ["Granted: reviewer", "Withdrawn: reviewer"]


def test_someone_new_is_not_told_of_their_first_roles(person, clock, tell_all):
    olga = person("operator")
    added = accounts.add_person(username="new", roles=[Role.ANALYST], clock=clock, actor=olga)
    assert tell_all() == 0
    accounts.change_roles(person=added.person, roles=[], actor=olga, clock=clock)
    assert tell_all() == 1


def test_the_first_roles_do_not_hide_a_later_change(person, clock, tell_all):
    """Both lie between two looks at the log."""
    olga = person("operator")
    added = accounts.add_person(username="new", roles=[Role.ANALYST], clock=clock, actor=olga)
    record(action="test.between", subject=olga, clock=clock)
    accounts.change_roles(person=added.person, roles=[], actor=olga, clock=clock)
    assert tell_all() == 1


def test_what_a_command_did_is_told_as_that(person, clock, tell_all):
    ada = person("analyst")
    accounts.change_roles(person=ada, roles=[Role.ANALYST, Role.REVIEWER], actor=None, clock=clock)
    tell_all()
    assert "Changed by a command on the server on" in the_notification().event.body


def test_everything_is_told_once(person, clock, tell_all):
    ada = person("analyst")
    accounts.change_password(person=ada, password="another long one", clock=clock)
    assert [tell_all() for _ in range(3)] == [1, 0, 0]
    accounts.change_password(person=ada, password="yet another long one", clock=clock)
    assert [tell_all() for _ in range(3)] == [1, 0, 0]


def test_nothing_is_lost_or_told_twice_if_telling_fails_half_way(
    person, clock, tell_all, monkeypatch
):
    from portal.notifications import watching

    for name in ("ada", "ben"):
        somebody = person("analyst", username=name)
        accounts.change_password(person=somebody, password="another long one", clock=clock)

    class Killed(BaseException):
        """What a worker's end looks like from inside."""

    def die(self, *args, **kwargs):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(watching.Watch, "save", die)
        with pytest.raises(Killed):
            tell_all()
    assert not Event.objects.exists()
    assert tell_all() == 2


def test_other_entries_are_passed_over(person, clock, tell_all):
    record(action="test.happened", subject=person("analyst"), clock=clock)
    assert tell_all() == 0
    assert Watch.objects.get().seq == 1


def test_people_who_are_gone_do_not_stop_the_others_from_being_told(person, clock, tell_all):
    gone, ada = person("analyst"), person("analyst")
    accounts.change_password(person=gone, password="another long one", clock=clock)
    create_token(owner=gone, name="laptop", scopes=["read"], lifetime_days=30, clock=clock)
    accounts.change_password(person=ada, password="another long one", clock=clock)
    gone.delete()
    assert tell_all() == 1
    assert the_notification().recipient == ada


def test_looking_at_a_log_without_news_takes_three_reads(
    person, clock, tell_all, django_assert_num_queries
):
    record(action="test.happened", subject=person("analyst"), clock=clock)
    tell_all()
    with django_assert_num_queries(3):
        tell_all()


def test_a_broken_chain_is_told_to_all_operators_once(person, clock, tell_all):
    operators, _ = {person("operator"), person("operator", "analyst")}, person("analyst")
    found = Verification.objects.create(pk=1, problem="Entry 7 has been changed.")
    assert [tell_all() for _ in range(3)] == [1, 0, 0]
    assert {n.recipient for n in Notification.objects.all()} == operators
    event = Event.objects.get()
    assert (event.kind, event.link) == ("audit.broken", "/audit")
    assert event.body.startswith("Entry 7 has been changed. Keep a copy")

    Verification.objects.filter(pk=found.pk).update(problem="")
    assert tell_all() == 0
    Verification.objects.filter(pk=found.pk).update(problem="Entry 7 has been changed.")
    assert tell_all() == 1


def test_the_verification_job_and_the_watch_agree_on_a_real_break(own_database, clock, tell_all):
    from portal.accounts.models import Grant, Person
    from portal.audit.jobs import verify_chain

    olga = Person.objects.create_user("olga")
    Grant.objects.create(person=olga, role=Role.OPERATOR)
    for _ in range(3):
        record(action="test.happened", subject=olga, clock=clock)
    _tamper_behind_the_portals_back()
    for _ in range(3):
        verify_chain()
        tell_all()
    assert Event.objects.get().body.startswith("Entry 2 has been changed since it was written.")


def test_several_workers_at_once_tell_everything_once(own_database, clock, tell_all):
    """3 workers look at a log with 10 changed passwords."""
    from portal.accounts.models import Person

    ada = Person.objects.create_user("ada")
    for _ in range(10):
        record(action="password.changed", subject=ada, actor=ada, clock=clock)
    start = threading.Barrier(3)

    def work():
        with own_database():
            connection.ensure_connection()
            start.wait(10)
            tell_all()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert Notification.objects.count() == 10


def _tamper_behind_the_portals_back():
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ALTER TABLE audit_entry DISABLE TRIGGER USER")
        else:
            cursor.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_entry'"
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f'DROP TRIGGER "{name}"')
        cursor.execute("UPDATE audit_entry SET actor = 'nobody' WHERE seq = 2")
    assert Entry.objects.get(seq=2).actor == "nobody"
