"""Counting failed sign-ins: at most 5 for a name and 20 from an address in 15 minutes.

Each attempt is counted **before** its password is looked at, in a short transaction that only one
attempt at a time can be in. So however many arrive at once, no more than the limit ever reach the
password. A success takes back the name's failures. Names and addresses are kept as keyed hashes,
for names that exist and names that do not alike. Machine time.
"""

import math
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from aggregation.errors import Problem
from portal.accounts.models import LoginFailure, Person

NAME_LIMIT = 5
ADDRESS_LIMIT = 20
WINDOW = timedelta(minutes=15)

# Any number will do, as long as nothing else takes an advisory lock with it.
_LOCK = 0x6D61_7966_6C79


class TooManyFailures(Problem):
    """Nobody may try this name, or from this address, for a while."""

    def __init__(self, wait: timedelta) -> None:
        self.wait_seconds = max(1, math.ceil(wait.total_seconds()))
        minutes = (self.wait_seconds + 59) // 60
        super().__init__(
            "There were too many failed sign-ins.",
            hint=f"Try again in {minutes} minute{'s' if minutes > 1 else ''}.",
        )


def admit(*, name: str, address: str, now: datetime) -> LoginFailure:
    """Count an attempt as failed in advance and let its password be looked at, or refuse it."""
    attempt = LoginFailure(name_hash=_hash("name", name), address_hash=_hash("address", address))
    attempt.at = now
    with transaction.atomic():
        _one_at_a_time()
        if wait := _wait(attempt, now):
            raise TooManyFailures(wait)
        attempt.save()
    return attempt


def forgive(attempt: LoginFailure) -> None:
    """The attempt succeeded: it was no failure, and the name's earlier ones are forgotten."""
    LoginFailure.objects.filter(name_hash=attempt.name_hash).delete()


def forget_old_failures(*, now: datetime) -> int:
    """Delete what no longer counts."""
    deleted, _ = LoginFailure.objects.filter(at__lte=now - WINDOW).delete()
    return deleted


def _one_at_a_time() -> None:
    """SQLite's transactions are (IMMEDIATE); PostgreSQL's take this lock until they end."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _wait(attempt: LoginFailure, now: datetime) -> timedelta | None:
    recent = LoginFailure.objects.filter(at__gt=now - WINDOW)
    limits = [(recent.filter(name_hash=attempt.name_hash), NAME_LIMIT)]
    if attempt.address_hash:
        limits.append((recent.filter(address_hash=attempt.address_hash), ADDRESS_LIMIT))
    ends = [end for rows, limit in limits if (end := _full_until(rows, limit))]
    return max(ends) - now if ends else None


def _full_until(rows: QuerySet[LoginFailure], limit: int) -> datetime | None:
    """When the limit-th newest of the rows leaves the window; None if there are fewer."""
    moment = rows.order_by("-at").values_list("at", flat=True)[limit - 1 : limit].first()
    return moment + WINDOW if moment else None


def _hash(kind: str, value: str) -> str:
    """Keyed, so that nobody can try names against the table; empty for an unknown address."""
    if kind == "name":
        value = Person.normalize_username(value)
    if not value:
        return ""
    return salted_hmac(f"portal.accounts.sign_in.{kind}", value, algorithm="sha256").hexdigest()
