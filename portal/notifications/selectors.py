"""Reading notifications, deliveries and the demo's e-mails."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, QuerySet, Value, When

from portal.accounts.models import Person
from portal.notifications.models import Delivery, Email, Notification


def notifications_of(person: Person) -> QuerySet[Notification]:
    """Unread ones first, newest first."""
    read = Case(When(read_at=None, then=Value(0)), default=Value(1))
    return person.notifications.select_related("event").order_by(read, "-id")


def unread_count(person: Person) -> int:
    """One query over an index that holds nothing but what is unread."""
    return person.notifications.filter(read_at=None).count()


def newest_id(person: Person) -> int:
    """The newest notification's id, read or not; 0 when there is none."""
    return person.notifications.order_by("-id").values_list("id", flat=True).first() or 0


def due_deliveries(*, channel: str, now: datetime, limit: int) -> list[Delivery]:
    """What is due over a channel, the longest overdue first."""
    queued = Delivery.objects.filter(state=Delivery.State.QUEUED, channel=channel)
    return list(queued.filter(due_at__lte=now).order_by("due_at", "pk")[:limit])


def deliveries_in(state: str) -> QuerySet[Delivery]:
    """Newest first; every state if none is named."""
    found = Delivery.objects.select_related("event", "notification__recipient")
    return found.filter(state=state) if state else found


@dataclass(frozen=True)
class StateCount:
    value: str
    label: str
    count: int


def delivery_counts() -> list[StateCount]:
    """How many deliveries each state has, what needs doing first, and all of them last."""
    counted = dict(Delivery.objects.order_by().values_list("state").annotate(Count("pk")))
    order = (Delivery.State.FAILED, Delivery.State.QUEUED, Delivery.State.SENT)
    states = [StateCount(s.value, s.label, counted.get(s.value, 0)) for s in order]
    return [*states, StateCount("all", "All", sum(counted.values()))]


def outbox() -> QuerySet[Email]:
    return Email.objects.all()
