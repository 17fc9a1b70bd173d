"""Reading the audit log."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from django.db.models import QuerySet

from portal.audit.models import Entry, Verification


@dataclass(frozen=True)
class AuditFilter:
    """What a reader asks for; empty fields ask for everything."""

    person: str = ""
    action: str = ""
    object_type: str = ""
    # Part of it is enough.
    object_label: str = ""
    object_id: str = ""
    # Civil time, as the page shows it.
    first_day: date | None = None
    last_day: date | None = None


def entries_matching(wanted: AuditFilter) -> QuerySet[Entry]:
    found = Entry.objects.all()
    exact = {
        "actor": wanted.person,
        "action": wanted.action,
        "object_type": wanted.object_type,
        "object_id": wanted.object_id,
    }
    found = found.filter(**{name: value for name, value in exact.items() if value})
    if wanted.object_label:
        found = found.filter(object_label__icontains=wanted.object_label)
    if wanted.first_day:
        found = found.filter(civil_at__gte=datetime.combine(wanted.first_day, time.min, tzinfo=UTC))
    if wanted.last_day:
        found = found.filter(civil_at__lte=datetime.combine(wanted.last_day, time.max, tzinfo=UTC))
    return found


def values_in_log(field: str) -> list[str]:
    """The distinct people, actions or object types there are to filter by."""
    return list(Entry.objects.order_by(field).values_list(field, flat=True).distinct())


def latest_verification() -> Verification | None:
    return Verification.objects.filter(pk=1).first()
