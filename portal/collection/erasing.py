"""Erasure: partials that were merged, or waited too long, become unreadable for good.

The key goes first and for good; the emptied body comes on top. A key of level 1 goes once its
partials are merged, or three days after the day it was made; one of a higher level at the release,
or seven days after the end of grace. A key that a session could be sealing with just now is left
alone: the session's row says so.
"""

from collections.abc import Collection
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from aggregation.clock import Clock
from aggregation.partials.keys import KeyFolder, KeyName
from portal.audit.services import move
from portal.collection.keys import partial_keys
from portal.collection.leaving import HIGHER_LASTS, LEVEL_1_LASTS
from portal.collection.models import HandOver, Hold, Partial, Receipts, Session
from portal.tasks.models import TaskWindow

_State = Partial.State
_DONE = (TaskWindow.State.RELEASED, TaskWindow.State.SKIPPED)


def erase_partials(*, clock: Clock) -> None:
    keys = partial_keys()
    for name, window_id in _keys_of(_leavable(clock.now())):
        _erase(keys, name, window_id, clock=clock)
    for name in keys.names():
        window = TaskWindow.objects.filter(task__name=name.task, window=name.window_id).first()
        if window is not None:
            _erase_orphan(keys, name, window.pk, clock.now())
    Receipts.objects.filter(window__state__in=_DONE).delete()
    HandOver.objects.filter(window__state__in=_DONE, ids__isnull=False).update(ids=None)


@transaction.atomic
def _erase(keys: KeyFolder, name: KeyName, window_id: int, *, clock: Clock) -> None:
    """Destroy one key, and empty what it sealed.

    Whoever stores partials of the window locks it, too: it finds the key, or finds that it is
    gone. Should this transaction fail after all, the key is gone and the rows follow later.
    """
    window = TaskWindow.objects.select_for_update(no_key=True).get(pk=window_id)
    sealed = Partial.objects.filter(window=window, level=name.level, key_day=name.day)
    leavable = _leavable(clock.now()).filter(pk__in=sealed.values("pk")).order_by("pk")
    partials = list(leavable.select_for_update(no_key=True, of=("self",)))
    if _is_erasable(name, window, partials, clock.now()):
        keys.erase(name)
        for partial in partials:
            to = _State.ERASED if partial.state == _State.MERGED else _State.EXPIRED
            move(partial, to=to, clock=clock, body=b"")


@transaction.atomic
def _erase_orphan(keys: KeyFolder, name: KeyName, window_id: int, now: datetime) -> None:
    """A key without any partial, left by a flush or a merge that failed; once nobody uses it."""
    window = TaskWindow.objects.select_for_update(no_key=True).get(pk=window_id)
    if _is_past(name, window, now) and not _seals_something(name, window):
        keys.erase(name)


def _leavable(now: datetime) -> QuerySet[Partial]:
    """Merged partials, and stored ones whose time is over; bodies stay where they are."""
    over = Q(state=_State.MERGED) | Q(state=_State.STORED, expires_at__lte=now)
    return Partial.objects.filter(over).defer("body")


def _keys_of(partials: QuerySet[Partial]) -> set[tuple[KeyName, int]]:
    fields = ("window__task__name", "window__window", "level", "key_day", "window_id")
    rows = partials.values_list(*fields).distinct().order_by()
    return {(KeyName(*name), window_id) for *name, window_id in rows}


def _is_erasable(
    name: KeyName, window: TaskWindow, partials: Collection[Partial], now: datetime
) -> bool:
    """Nothing that is still wanted is sealed with it, and nobody is about to seal with it."""
    sealed = Partial.objects.filter(window=window, level=name.level, key_day=name.day)
    wanted = sealed.filter(state=_State.STORED).exclude(pk__in=[one.pk for one in partials])
    if wanted.exists():
        return False
    if window.state in _DONE:
        return True
    return name.day < now.astimezone(UTC).date() and not _is_in_use(window)


def _is_in_use(window: TaskWindow) -> bool:
    """A session seals partials of the window just now, or a collector opens them."""
    completing = Session.objects.filter(state=Session.State.COMPLETING).values("pk")
    if Hold.objects.filter(window=window, session__in=completing).exists():
        return True
    return window.collectors.filter(state__in=Session.ALIVE).exists()


def _is_past(name: KeyName, window: TaskWindow, now: datetime) -> bool:
    if window.state in _DONE:
        return True
    if name.level > 1:
        return now >= window.due_at + HIGHER_LASTS and not _is_in_use(window)
    made = datetime.combine(name.day, datetime.min.time(), UTC)
    return now >= made + LEVEL_1_LASTS and not _is_in_use(window)


def _seals_something(name: KeyName, window: TaskWindow) -> bool:
    rows = Partial.objects.filter(window=window, level=name.level, key_day=name.day)
    return rows.filter(state__in=[_State.STORED, _State.MERGED]).exists()
