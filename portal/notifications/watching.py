"""Telling people of what the audit log records.

Accounts and audit stand below this app and cannot call `notify`. What they do is in the audit
log, in the transaction that did it and in an order without gaps (the log's head is locked until
that transaction ends). So a job reads on from where it stopped, and its place moves in the
transaction that tells people: everything is told of exactly once, whoever did it and however.
"""

from django.db import transaction
from django.db.models import Max

from aggregation.clock import Clock
from portal.audit.models import Entry
from portal.audit.selectors import latest_verification
from portal.notifications.models import Watch
from portal.notifications.occasions import OCCASIONS, Notice, broken_chain, notices_of
from portal.notifications.services import MACHINE, notify


def tell_of_new_entries(*, clock: Clock, machine: Clock = MACHINE) -> int:
    """Tell people of what is new in the log, and operators of a broken chain; says how often."""
    # Asked every few seconds: look before locking.
    if _known() == _present():
        return 0
    with transaction.atomic():
        watch, _ = Watch.objects.select_for_update().get_or_create(pk=1)
        seq, problem = _present()
        notices = [*_notices_between(watch.seq, seq), *_chain_notices(watch.problem, problem)]
        for notice in notices:
            _tell(notice, clock=clock, machine=machine)
        watch.seq, watch.problem = max(seq, watch.seq), problem
        watch.save()
    return len(notices)


def _known() -> tuple[int, str]:
    watch = Watch.objects.filter(pk=1).first() or Watch()
    return watch.seq, watch.problem


def _present() -> tuple[int, str]:
    newest = Entry.objects.aggregate(newest=Max("seq"))["newest"] or 0
    verification = latest_verification()
    return newest, verification.problem if verification else ""


def _notices_between(after: int, up_to: int) -> list[Notice]:
    entries = Entry.objects.filter(seq__gt=after, seq__lte=up_to, action__in=OCCASIONS)
    return notices_of(entries.order_by("seq"))


def _chain_notices(told: str, problem: str) -> list[Notice]:
    """Once per break: the same break is found again and again, in the same words."""
    return [broken_chain(problem)] if problem and problem != told else []


def _tell(notice: Notice, *, clock: Clock, machine: Clock) -> None:
    notify(
        recipients=notice.recipients,
        kind=notice.kind,
        title=notice.title,
        body=notice.body,
        link=notice.link,
        clock=clock,
        machine=machine,
    )
