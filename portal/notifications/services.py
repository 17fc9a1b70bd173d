"""Telling people, and what they do with what they were told."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from aggregation.clock import Clock, SystemClock
from portal.accounts.emails import email_is_on
from portal.accounts.models import Person
from portal.audit.services import move
from portal.notifications.models import Delivery, Event, Notification
from portal.notifications.wording import body_of, own_path, title_of

MACHINE = SystemClock()
# What people were told of is in the audit log for good; here it is news.
KEPT = timedelta(weeks=26)


@transaction.atomic
def notify(
    *,
    recipients: Iterable[Person],
    kind: str,
    title: str,
    body: str,
    link: str,
    clock: Clock,
    machine: Clock = MACHINE,
) -> Event:
    """Tell people of an event, in the caller's transaction: if that fails, nobody is told.

    Nothing is sent here. Each active recipient gets a notification; those who want e-mail and
    have an address a queued e-mail; the webhook, where one is set, one queued call. `clock` is
    civil time; due moments are machine time.
    """
    now = machine.now()
    event = Event.objects.create(
        kind=kind,
        title=title_of(title),
        body=body_of(body),
        link=own_path(link),
        created_at=now,
        civil_at=clock.now(),
    )
    people = {person.pk: person for person in recipients if person.is_active}
    notifications = Notification.objects.bulk_create(
        Notification(event=event, recipient=person) for person in people.values()
    )
    Delivery.objects.bulk_create([*_emails(notifications, now), *_webhook_call(event, now)])
    return event


def mark_read(*, notification: Notification, machine: Clock = MACHINE) -> None:
    """Reading a second time does not change when it was read first."""
    unread = Notification.objects.filter(pk=notification.pk, read_at=None)
    unread.update(read_at=machine.now())
    notification.refresh_from_db(fields=["read_at"])


def mark_all_read(*, person: Person, up_to: int, machine: Clock = MACHINE) -> int:
    """Mark what the person has seen: what came after `up_to` (a notification's id) stays new."""
    unread = Notification.objects.filter(recipient=person, read_at=None, pk__lte=up_to)
    return unread.update(read_at=machine.now())


def retry_delivery(
    *, delivery: Delivery, clock: Clock, actor: Person, machine: Clock = MACHINE
) -> bool:
    """Queue a failed delivery again, with all its attempts; False if it is no longer failed."""
    if delivery.state != Delivery.State.FAILED:
        return False
    return move(
        delivery,
        to=Delivery.State.QUEUED,
        clock=clock,
        actor=actor,
        action="delivery.retried",
        attempts=0,
        due_at=machine.now(),
        settled_at=None,
    )


def retry_failed_deliveries(*, clock: Clock, actor: Person, machine: Clock = MACHINE) -> int:
    """Queue every failed delivery again; says how many."""
    failed = Delivery.objects.filter(state=Delivery.State.FAILED).select_related(
        "event", "notification__recipient"
    )
    return sum(
        retry_delivery(delivery=row, clock=clock, actor=actor, machine=machine)
        for row in failed.order_by("pk")
    )


def forget_old_events(*, clock: Clock) -> int:
    """Delete what people were told of half a year ago, whether they read it or not; says how much.

    What is still to be sent stays until that is settled.
    """
    old = Event.objects.filter(civil_at__lte=clock.now() - KEPT)
    queued = Delivery.objects.filter(state=Delivery.State.QUEUED).values("event_id")
    deleted, _ = old.exclude(pk__in=queued).delete()
    return deleted


def _emails(notifications: Iterable[Notification], now: datetime) -> list[Delivery]:
    if not email_is_on():
        return []
    return [
        Delivery(
            event=notification.event,
            channel=Delivery.Channel.EMAIL,
            notification=notification,
            due_at=now,
        )
        for notification in notifications
        if notification.recipient.wants_email and notification.recipient.email
    ]


def _webhook_call(event: Event, now: datetime) -> list[Delivery]:
    if not settings.WEBHOOK_URL:
        return []
    return [Delivery(event=event, channel=Delivery.Channel.WEBHOOK, due_at=now)]
