"""Sending what is due: claim a row, send outside any transaction, then settle it.

A row is claimed by compare-and-set, which moves its due moment to the end of a lease: of two
workers one wins, and a row whose worker died becomes due again by itself. So each delivery is
made at least once. It may be made twice when a worker dies after sending and before saying so;
no sender can rule that out without the receiver's help, which is why every attempt carries the
same identity.
"""

import time
import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import F

from aggregation.clock import Clock
from portal.audit.services import move
from portal.notifications.mail import send_email
from portal.notifications.models import Delivery
from portal.notifications.outcomes import NotSent, Outcome, Sent
from portal.notifications.selectors import due_deliveries
from portal.notifications.services import MACHINE
from portal.notifications.webhook import call_webhook

# Longer than one attempt can take: ten seconds for each step of a conversation.
LEASE = timedelta(minutes=2)
# How long to wait after the first, second and third failed attempt; the fourth is the last.
BACK_OFF = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30))
MOST_ATTEMPTS = len(BACK_OFF) + 1
AT_ONCE = 50
# A channel that has taken this long leaves the rest to the next run, which is seconds away.
RUN_SECONDS = 20.0


def send_due_deliveries(*, clock: Clock, machine: Clock = MACHINE) -> int:
    """Try what is due and free, channel by channel; says how many went out."""
    return sum(
        _send_over(channel, clock=clock, machine=machine) for channel in Delivery.Channel.values
    )


def deliver(row: Delivery, *, clock: Clock, machine: Clock = MACHINE) -> Outcome | None:
    """Claim, send and settle one delivery; nothing happens if somebody else has it."""
    claimed = claim(row, machine=machine)
    if claimed is None:
        return None
    outcome = _attempt(claimed, machine=machine)
    settle(claimed, outcome, clock=clock, machine=machine)
    return outcome


def claim(row: Delivery, *, machine: Clock = MACHINE) -> Delivery | None:
    """The row as it is now, ours until its lease ends; None if it is not due any more."""
    now, ours = machine.now(), uuid.uuid4()
    still_due = Delivery.objects.filter(pk=row.pk, state=Delivery.State.QUEUED, due_at__lte=now)
    if not still_due.update(attempts=F("attempts") + 1, due_at=now + LEASE, claim=ours):
        return None
    found = Delivery.objects.select_related("event", "notification__recipient")
    return found.filter(pk=row.pk, claim=ours).first()


def settle(row: Delivery, outcome: Outcome, *, clock: Clock, machine: Clock = MACHINE) -> None:
    """Write down how the attempt ended.

    What was sent is sent, whoever holds the claim by now. A failure counts only while the claim
    is ours: a worker that was slow must not speak for the one that took over.
    """
    now = machine.now()
    if isinstance(outcome, Sent):
        move(row, to=Delivery.State.SENT, clock=clock, settled_at=now, claim=None, error="")
        return
    with transaction.atomic():
        ours = Delivery.objects.filter(pk=row.pk, state=Delivery.State.QUEUED, claim=row.claim)
        if row.attempts < MOST_ATTEMPTS:
            again_at = now + BACK_OFF[row.attempts - 1]
            ours.update(due_at=again_at, claim=None, error=outcome.reason)
        elif ours.update(claim=None, error=outcome.reason, settled_at=now):
            move(row, to=Delivery.State.FAILED, clock=clock)


def _send_over(channel: str, *, clock: Clock, machine: Clock) -> int:
    """Once a channel could not be reached, its other deliveries wait for the next run: a dead
    mail server must not hold a worker for one time-out per e-mail, nor hold up the webhook."""
    began, sent = time.monotonic(), 0
    for row in due_deliveries(channel=channel, now=machine.now(), limit=AT_ONCE):
        if time.monotonic() - began > RUN_SECONDS:
            break
        outcome = deliver(row, clock=clock, machine=machine)
        sent += isinstance(outcome, Sent)
        if isinstance(outcome, NotSent) and outcome.unreachable:
            break
    return sent


def _attempt(row: Delivery, *, machine: Clock) -> Outcome:
    if row.attempts > MOST_ATTEMPTS:
        return NotSent("A worker stopped in the middle of every attempt.")
    if row.notification is None:
        return call_webhook(row.event, machine=machine)
    return send_email(row.notification)
