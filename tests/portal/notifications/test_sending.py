"""Sending what is due: claims, leases, back-off, and what each kind of failure says."""

import threading
from datetime import timedelta

import pytest
from django.db import connection

from portal.audit.models import Entry
from portal.notifications import sending
from portal.notifications.jobs import send_due_deliveries as job
from portal.notifications.models import Delivery
from portal.notifications.outcomes import NotSent, Sent
from portal.notifications.sending import claim, deliver, send_due_deliveries, settle
from portal.notifications.services import notify, retry_delivery, retry_failed_deliveries

MINUTE = timedelta(minutes=1)


@pytest.fixture
def send(clock):
    return lambda: send_due_deliveries(clock=clock, machine=clock)


def test_it_works(person, tell, send, mailbox, clock):
    ada = person("analyst", username="ada")
    event = tell(ada, title="Zürich is ready")
    assert send() == 1
    (message,) = mailbox.messages
    assert message["To"] == "ada@example.org"
    assert message["Subject"] == "[Mayfly] Zürich is ready"
    assert message["Auto-Submitted"] == "auto-generated"
    notification = event.notifications.get()
    assert str(event.pk) in message["Message-ID"]
    text = message.get_content()
    assert "It was seen from here.\r\nTwice.\r\n" in text
    assert f"http://127.0.0.1:8000/notifications/{notification.pk}/open" in text
    delivery = event.deliveries.get()
    assert (delivery.state, delivery.attempts, delivery.claim) == ("sent", 1, None)
    assert delivery.settled_at == clock.now()
    assert Entry.objects.get().action == "delivery.sent"
    assert send() == 0
    assert len(mailbox.messages) == 1


def test_the_job_sends_in_machine_time(person, mailbox, clock):
    notify(recipients=[person("analyst")], kind="a.b", title="t", body="", link="/", clock=clock)
    job()
    assert len(mailbox.messages) == 1


def test_a_title_from_a_hostile_mind_adds_no_header(person, tell, send, mailbox):
    tell(person("analyst"), title="token\r\nBcc: eve@example.org\r\n\r\nHello")
    send()
    (message,) = mailbox.messages
    assert message["Bcc"] is None
    assert message["Subject"] == "[Mayfly] token Bcc: eve@example.org Hello"


def test_an_address_from_a_hostile_mind_is_not_used(person, tell, send, mailbox):
    ada = person("analyst")
    event = tell(ada)
    ada.email = "ada@example.org\nBcc: eve@example.org"
    ada.save()
    assert send() == 0
    assert not mailbox.messages
    assert event.deliveries.get().error == "The person's address cannot stand in an e-mail."


def test_it_backs_off_and_gives_up_after_the_fourth_attempt(person, tell, send, mailbox, clock):
    event = tell(person("analyst"))
    mailbox.to_recipient = "451 come back later"
    for wait, attempts in ((MINUTE, 1), (5 * MINUTE, 2), (30 * MINUTE, 3)):
        send()
        delivery = event.deliveries.get()
        assert (delivery.state, delivery.attempts) == ("queued", attempts)
        assert delivery.due_at == clock.now() + wait
        clock.advance(wait - timedelta(seconds=1))
        send()
        assert event.deliveries.get().attempts == attempts
        clock.advance(timedelta(seconds=1))
    send()
    delivery = event.deliveries.get()
    assert (delivery.state, delivery.attempts) == ("failed", 4)
    assert delivery.error == "The mail server refused the person's address (451)."
    assert [entry.action for entry in Entry.objects.all()] == ["delivery.failed"]
    clock.advance(timedelta(days=1))
    assert send() == 0
    assert event.deliveries.get().attempts == 4


def test_a_person_can_have_it_tried_again(person, tell, send, mailbox, clock):
    event, operator = tell(person("analyst")), person("operator")
    Delivery.objects.update(state="failed", attempts=4, error="It did not work.")
    failed = event.deliveries.get()
    assert retry_delivery(delivery=failed, clock=clock, actor=operator, machine=clock)
    assert not retry_delivery(delivery=failed, clock=clock, actor=operator, machine=clock)
    retried = Entry.objects.get()
    assert (retried.action, retried.actor) == ("delivery.retried", operator.username)
    assert send() == 1
    assert (event.deliveries.get().state, event.deliveries.get().error) == ("sent", "")


def test_all_that_failed_can_be_tried_again_at_once(person, tell, send, mailbox, clock):
    people = [person("analyst") for _ in range(3)]
    tell(*people)
    Delivery.objects.exclude(notification__recipient=people[0]).update(state="failed", attempts=4)
    assert retry_failed_deliveries(clock=clock, actor=people[0], machine=clock) == 2
    assert send() == 3


@pytest.mark.parametrize(
    ("name", "answer", "reason"),
    [
        ("greeting", "", "The mail server closed the connection."),
        ("greeting", "421 too busy", "The mail server answered 421."),
        ("to_recipient", "550 no", "The mail server refused the person's address (550)."),
    ],
)
def test_failures_of_the_mail_server_are_named(request, name, answer, reason):
    person, tell, send = map(request.getfixturevalue, ("person", "tell", "send"))
    setattr(request.getfixturevalue("mailbox"), name, answer)
    event = tell(person("analyst"))
    assert send() == 0
    assert event.deliveries.get().error == reason


def test_a_dead_mail_server_is_asked_once_a_run(person, tell, send, mailbox, settings):
    tell(*(person("analyst") for _ in range(3)))
    settings.EMAIL_PORT = 1
    send()
    assert sorted(Delivery.objects.values_list("attempts", flat=True)) == [0, 0, 1]
    assert Delivery.objects.get(attempts=1).error.startswith("The mail server could not be reached")


@pytest.mark.usefixtures("receiver")
def test_a_dead_webhook_does_not_hold_up_email(person, tell, send, mailbox, settings):
    settings.WEBHOOK_URL = "http://127.0.0.1:1/"
    for _ in range(sending.AT_ONCE + 1):
        tell()
    tell(person("analyst"))
    assert send() == 1
    assert len(mailbox.messages) == 1
    assert Delivery.objects.filter(channel="webhook", attempts=1).count() == 1


def test_somebody_who_has_left_gets_no_email(person, tell, send, mailbox):
    ada = person("analyst")
    event = tell(ada)
    ada.is_active = False
    ada.save()
    send()
    assert not mailbox.messages
    assert event.deliveries.get().error == "The person no longer takes e-mail."


@pytest.mark.databases
def test_a_claim_is_won_once_and_lapses(person, tell, clock):
    row = tell(person("analyst")).deliveries.get()
    assert claim(row, machine=clock)
    assert claim(row, machine=clock) is None
    clock.advance(sending.LEASE - timedelta(seconds=1))
    assert claim(row, machine=clock) is None
    clock.advance(timedelta(seconds=1))
    assert claim(row, machine=clock)


def test_what_a_dead_worker_had_claimed_is_sent_by_another(person, tell, send, mailbox, clock):
    """The worker dies between its claim and the mail server."""
    event = tell(person("analyst"))
    claim(event.deliveries.get(), machine=clock)
    assert send() == 0
    clock.advance(sending.LEASE)
    assert send() == 1
    assert (event.deliveries.get().state, event.deliveries.get().attempts) == ("sent", 2)


def test_what_a_worker_sent_before_it_died_is_sent_again_with_the_same_identity(
    person, tell, send, mailbox, clock
):
    """At least once: nobody but the receiver can know, and the Message-ID tells them."""
    from portal.notifications.mail import send_email

    claimed = claim(tell(person("analyst")).deliveries.get(), machine=clock)
    assert send_email(claimed.notification) == Sent()
    clock.advance(sending.LEASE)
    assert send() == 1
    first, second = mailbox.messages
    assert first["Message-ID"] == second["Message-ID"]


def test_a_delivery_that_kills_every_worker_fails_in_the_end(person, tell, send, mailbox, clock):
    event = tell(person("analyst"))
    for _ in range(sending.MOST_ATTEMPTS):
        assert claim(event.deliveries.get(), machine=clock)
        clock.advance(sending.LEASE)
    send()
    delivery = event.deliveries.get()
    assert (delivery.state, delivery.error) == (
        "failed",
        "A worker stopped in the middle of every attempt.",
    )
    assert not mailbox.messages


@pytest.mark.databases
def test_a_slow_worker_does_not_speak_for_the_one_that_took_over(person, tell, clock):
    row = tell(person("analyst")).deliveries.get()
    slow = claim(row, machine=clock)
    clock.advance(sending.LEASE)
    quick = claim(row, machine=clock)
    settle(slow, NotSent("Too slow."), clock=clock, machine=clock)
    row.refresh_from_db()
    assert (row.claim, row.error) == (quick.claim, "")
    slow.attempts = sending.MOST_ATTEMPTS
    settle(slow, NotSent("Too slow."), clock=clock, machine=clock)
    row.refresh_from_db()
    assert (row.state, row.claim, row.error) == ("queued", quick.claim, "")


@pytest.mark.databases
def test_what_was_sent_is_sent_even_if_the_lease_had_ended(person, tell, clock):
    row = tell(person("analyst")).deliveries.get()
    slow = claim(row, machine=clock)
    clock.advance(sending.LEASE)
    quick = claim(row, machine=clock)
    settle(slow, Sent(), clock=clock, machine=clock)
    settle(quick, NotSent("It did not work."), clock=clock, machine=clock)
    row.refresh_from_db()
    assert (row.state, row.error) == ("sent", "")


@pytest.mark.databases
def test_two_workers_at_once_never_send_the_same_one(own_database, tell, mailbox, receiver, clock):
    """3 workers, 12 e-mails and a webhook call, all due: 13 deliveries."""
    from portal.accounts.models import Person

    people = [Person.objects.create_user(f"p{n}", email=f"p{n}@example.org") for n in range(12)]
    tell(*people)
    rows, start = list(Delivery.objects.all()), threading.Barrier(3)

    def work():
        with own_database():
            connection.ensure_connection()
            start.wait(10)
            for row in rows:
                deliver(row, clock=clock, machine=clock)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(m["To"] for m in mailbox.messages) == sorted(p.email for p in people)
    assert len(receiver.calls) == 1
    assert set(Delivery.objects.values_list("state", "attempts")) == {("sent", 1)}


def test_nothing_is_sent_inside_a_transaction(own_database, tell, receiver, clock):
    """While the receiver thinks, somebody else can write, even to the same row."""
    seen = []

    def write():
        with own_database():
            Delivery.objects.update(error="somebody else wrote this")
            seen.append(Delivery.objects.get().error)

    receiver.before_answer = write
    tell()
    assert send_due_deliveries(clock=clock, machine=clock) == 1
    assert seen == ["somebody else wrote this"]


def test_a_slow_receiver_holds_one_thread_of_a_worker(own_database, clock, receiver):
    """The job that comes while another one is sending in the same process gives way."""
    arrived, answer = threading.Event(), threading.Event()
    receiver.before_answer = lambda: (arrived.set(), answer.wait(10))
    for _ in range(2):
        notify(recipients=[], kind="a.b", title="t", body="", link="/", clock=clock)

    def work():
        with own_database():
            job()

    first = threading.Thread(target=work)
    first.start()
    assert arrived.wait(10)
    job()
    assert len(receiver.calls) == 1
    answer.set()
    first.join(10)
    assert len(receiver.calls) == 2
