"""Telling people: who gets what, in whose transaction, and with which words."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.audit.models import Entry
from portal.notifications.models import Delivery, Event, Notification
from portal.notifications.selectors import notifications_of, unread_count
from portal.notifications.services import KEPT, forget_old_events, mark_all_read, mark_read

pytestmark = pytest.mark.databases


def test_it_works(person, tell, clock, receiver):
    ada, ben = person("analyst"), person("reviewer")
    event = tell(ada, ben)
    assert (event.created_at, event.civil_at) == (clock.now(), clock.now())
    assert {n.recipient for n in event.notifications.all()} == {ada, ben}
    queued = list(event.deliveries.values_list("channel", "state", "due_at"))
    assert sorted(queued) == [
        ("email", "queued", clock.now()),
        ("email", "queued", clock.now()),
        ("webhook", "queued", clock.now()),
    ]
    assert not receiver.calls


def test_due_moments_are_machine_time_whatever_civil_time_it_is(person, tell, clock):
    from aggregation.clock import SystemClock

    before = SystemClock().now()
    event = tell(person("analyst"), machine=SystemClock())
    assert event.civil_at == clock.now()
    assert before <= event.deliveries.get().due_at <= SystemClock().now()


def test_nobody_is_told_if_the_callers_transaction_fails(person, tell):
    with transaction.atomic():
        tell(person("analyst"))
        transaction.set_rollback(True)
    assert not Event.objects.exists()
    assert not Notification.objects.exists()
    assert not Delivery.objects.exists()


def test_a_person_named_twice_is_told_once(person, tell):
    ada = person("analyst")
    event = tell(ada, Person.objects.get(pk=ada.pk))
    assert event.notifications.count() == event.deliveries.count() == 1


@pytest.mark.parametrize("without", [{"email": ""}, {"wants_email": False}])
def test_people_who_want_no_email_get_none(person, tell, without):
    ada = person("analyst")
    Person.objects.filter(pk=ada.pk).update(**without)
    ada.refresh_from_db()
    event = tell(ada)
    assert event.notifications.count() == 1
    assert not event.deliveries.exists()


def test_people_who_have_left_are_not_told(person, tell):
    ada = person("analyst")
    ada.is_active = False
    assert not tell(ada).notifications.exists()


def test_no_email_is_queued_where_there_is_no_mail_server(person, tell, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    assert not tell(person("analyst")).deliveries.exists()


def test_the_webhook_is_called_even_if_nobody_is_there_to_be_told(db, tell, receiver):
    assert tell().deliveries.get().channel == "webhook"


@pytest.mark.parametrize(
    ("title", "stored"),
    [
        ("A token\r\nBcc: everyone@example.org", "A token Bcc: everyone@example.org"),
        ("  Zürich\x00 \u2028 Žižkov ", "Zürich Žižkov"),
        ("a\u202egnp.exe", "a gnp.exe"),
        ("x" * 300, "x" * 199 + "…"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_a_title_is_one_plain_line(person, tell, title, stored):
    assert tell(person("analyst"), title=title).title == stored


def test_a_body_keeps_its_lines_and_loses_control_characters(person, tell):
    event = tell(person("analyst"), body="one\r\ntwo\x00\x1b[31m\n\nthree" + "x" * 3000)
    assert event.body.startswith("one\ntwo[31m\n\nthree")
    assert len(event.body) == 2000


def test_an_empty_title_is_refused(db, tell):
    with pytest.raises(Problem, match="empty title"):
        tell(title=" \n ")


@pytest.mark.parametrize(
    "link",
    [
        "https://elsewhere.example/",
        "//elsewhere.example/",
        "/\\elsewhere.example/",
        "/\n/elsewhere.example/",
        "/\t/elsewhere.example/",
        "\\\\elsewhere.example",
        "javascript:alert(1)",
        "streams",
        "",
        " /streams",
        "/streams\n",
        "/streams?q=a b",
        "/" + "x" * 500,
    ],
)
def test_links_lead_to_this_site_only(db, tell, link):
    with pytest.raises(Problem, match="cannot link to"):
        tell(link=link)


@pytest.mark.parametrize("link", ["/", "/streams/trips?q=a%20b&page=2#columns", "/audit"])
def test_any_path_of_this_site_will_do(db, tell, link):
    assert tell(link=link).link == link


@pytest.mark.parametrize("link", ["https://elsewhere.example/", "//elsewhere.example"])
def test_the_database_refuses_other_links_too(db, tell, link):
    with pytest.raises(DatabaseError, match="an_event_links_to_a_path"), transaction.atomic():
        Event.objects.filter(pk=tell().pk).update(link=link)


def test_the_database_refuses_a_second_webhook_call_and_misfits(person, tell, clock, receiver):
    event = tell(person("analyst"))
    for wrong in (
        {"channel": "webhook"},
        {"channel": "email"},
        {"channel": "webhook", "notification": event.notifications.get()},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Delivery.objects.create(event=event, due_at=clock.now(), **wrong)


def test_reading_twice_keeps_the_first_moment(person, tell, clock):
    notification = tell(person("analyst")).notifications.get()
    mark_read(notification=notification, machine=clock)
    first = notification.read_at
    clock.advance(clock.now() - clock.now().replace(hour=0))
    mark_read(notification=notification, machine=clock)
    assert notification.read_at == first


def test_marking_all_leaves_what_came_later_and_other_peoples(person, tell):
    ada, ben = person("analyst"), person("reviewer")
    tell(ada, ben)
    seen = tell(ada).notifications.get()
    tell(ada, title="Came while Ada was reading")
    assert mark_all_read(person=ada, up_to=seen.pk) == 2
    assert [n.event.title for n in notifications_of(ada) if not n.read_at] == [
        "Came while Ada was reading"
    ]
    assert unread_count(ben) == 1


def test_unread_ones_come_first_and_newest_first(person, tell):
    ada = person("analyst")
    made = [tell(ada, title=f"number {n}").notifications.get() for n in range(4)]
    mark_read(notification=made[3])
    mark_read(notification=made[1])
    assert [n.pk for n in notifications_of(ada)] == [made[i].pk for i in (2, 0, 3, 1)]


def test_counting_unread_ones_takes_one_query(person, tell, django_assert_num_queries):
    ada = person("analyst")
    tell(ada)
    with django_assert_num_queries(1):
        assert unread_count(ada) == 1


def test_telling_many_takes_as_many_queries_as_telling_one(
    person, tell, django_assert_max_num_queries
):
    people = [person("analyst") for _ in range(5)]
    with django_assert_max_num_queries(5):
        tell(*people)
    assert not Entry.objects.exists()


def test_what_people_were_told_of_is_forgotten_after_half_a_year(person, tell, clock):
    ada = person("analyst")
    old, waiting = tell(ada), tell(ada)
    old.deliveries.update(state=Delivery.State.SENT)
    clock.advance(KEPT)
    fresh = tell(ada)
    clock.advance(-timedelta(seconds=1))
    assert forget_old_events(clock=clock) == 0
    clock.advance(timedelta(seconds=1))
    assert forget_old_events(clock=clock) > 0
    assert set(Event.objects.all()) == {waiting, fresh}, "what is to be sent stays"
    assert set(Notification.objects.values_list("event", flat=True)) == {waiting.pk, fresh.pk}
    waiting.deliveries.update(state=Delivery.State.FAILED)
    forget_old_events(clock=clock)
    assert Event.objects.get() == fresh
