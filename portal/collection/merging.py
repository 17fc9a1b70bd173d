"""Merging: partials of one window and level become one of the next, in one transaction.

The argument. The sum is made outside any transaction, from partials that were stored when they
were read. In the transaction the window is locked and still in grace, so no release has read its
partials; each input is locked and still stored, so nobody else has counted it, expired it or
erased it; the key that sealed the result is still there, and erasing a key takes the same lock.
All inputs become `merged` and the result is stored together, or nothing happens. Hence at every
moment each counted update is in exactly one stored partial of its window. A worker that dies
leaves what was there; of two workers with the same inputs one commits, and the other finds its
inputs gone.

One partial is open at a time: memory holds the sum and one more, however many are merged.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import uuid4

from django.conf import settings
from django.db import transaction

from aggregation.clock import Clock
from aggregation.core.checks import Params
from aggregation.errors import Problem
from aggregation.partials.envelope import seal_partial
from aggregation.partials.keys import PartialKey
from aggregation.partials.merge import Stored, fold
from portal.audit.services import move, record
from portal.collection.keys import partial_keys
from portal.collection.leases import lease
from portal.collection.leaving import HIGHER_LASTS
from portal.collection.merge_plan import Merge, Waiting, merges_due
from portal.collection.models import Partial
from portal.collection.opening import config_of_revision
from portal.collection.stored import as_stored, label_in
from portal.tasks.models import TaskWindow

log = logging.getLogger(__name__)

_STORED = Partial.State.STORED


class MergeLost(Exception):
    """Somebody else moved an input, the window or the key meanwhile: nothing was stored."""


@dataclass(frozen=True, repr=False)
class _Sealed:
    """A sum in its envelope, and the key that must still be there when it is stored."""

    id: str
    level: int
    key: PartialKey
    envelope: bytes


def merge_partials(*, clock: Clock) -> None:
    """Do every merge that is due. What one of them meets does not keep the others from theirs."""
    for window, merge in _due(clock.now()):
        work = f"merge:{window.pk}:{merge.level}"
        with lease(work, seconds=max(5.0, 5 * settings.HEARTBEAT_SECONDS)) as ours:
            if ours:
                _attempt(window, merge, clock)


def merge_once(*, window: TaskWindow, merge: Merge, clock: Clock) -> Partial:
    """One merge. Raises MergeLost, and Problem if a partial does not open; then nothing changed."""
    sealed = _sealed(window, merge, _today(clock.now()))
    return _commit(window, merge, sealed, clock=clock)


def _due(now: datetime) -> Iterator[tuple[TaskWindow, Merge]]:
    """Windows in grace with partials to be merged; what has expired is not read any more."""
    rows = Partial.objects.filter(
        state=_STORED, window__state=TaskWindow.State.GRACE, expires_at__gt=now
    )
    found: dict[int, list[Waiting]] = {}
    for window_id, pk, level, key_day in rows.values_list("window_id", "pk", "level", "key_day"):
        found.setdefault(window_id, []).append(Waiting(pk, level, key_day))
    windows = TaskWindow.objects.select_related("task", "revision")
    for window_id, waiting in found.items():
        for merge in merges_due(waiting, today=_today(now)):
            yield windows.get(pk=window_id), merge


def _attempt(window: TaskWindow, merge: Merge, clock: Clock) -> None:
    try:
        merge_once(window=window, merge=merge, clock=clock)
    except MergeLost:
        log.info("A merge of %s was done by somebody else, or the window has closed.", window)
    except Problem as problem:
        log.error("A merge of %s is not possible: %s %s", window, problem, problem.hint)


def _sealed(window: TaskWindow, merge: Merge, today: date) -> _Sealed:
    keys = partial_keys()
    params = Params.of(config_of_revision(window.revision))
    total = fold(_inputs(window, merge), keys=keys, params=params)
    label = label_in(window, partial=uuid4().hex, level=merge.level + 1)
    key = keys.for_sealing(label.key_name(today))
    return _Sealed(
        label.partial, label.level, key, seal_partial(total.serialise(), label=label, key=key)
    )


def _inputs(window: TaskWindow, merge: Merge) -> Iterator[Stored]:
    """One body in memory at a time, and no cursor open while it is summed."""
    for pk in merge.partials:
        partial = Partial.objects.filter(pk=pk, window=window, state=_STORED).first()
        if partial is None:
            raise MergeLost(pk)
        yield as_stored(partial, window)


@transaction.atomic
def _commit(window: TaskWindow, merge: Merge, sealed: _Sealed, *, clock: Clock) -> Partial:
    locked = TaskWindow.objects.select_for_update(no_key=True).get(pk=window.pk)
    inputs = _locked_inputs(window, merge)
    if locked.state != TaskWindow.State.GRACE or not _is_there(sealed.key):
        raise MergeLost(window.pk)
    for partial in inputs:
        if not move(partial, to=Partial.State.MERGED, clock=clock):
            raise MergeLost(partial.pk)
    made = Partial.objects.create(
        id=sealed.id,
        window=window,
        level=sealed.level,
        key_day=sealed.key.name.day,
        body=sealed.envelope,
        created_at=clock.now(),
        expires_at=locked.due_at + HIGHER_LASTS,
    )
    record(action="partial.stored", subject=made, clock=clock)
    return made


def _locked_inputs(window: TaskWindow, merge: Merge) -> list[Partial]:
    rows = Partial.objects.select_for_update(no_key=True).defer("body").order_by("pk")
    found = list(
        rows.filter(pk__in=merge.partials, window=window, level=merge.level, state=_STORED)
    )
    if len(found) != len(merge.partials):
        raise MergeLost(window.pk)
    return found


def _is_there(key: PartialKey) -> bool:
    try:
        return partial_keys().for_opening(key.name).id == key.id
    except Problem:
        return False


def _today(now: datetime) -> date:
    return now.astimezone(UTC).date()
