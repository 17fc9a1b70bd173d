"""The heartbeat's questions: which windows have begun or ended, and which are to be charged?"""

import logging
from collections.abc import Callable, Iterable

from celery import shared_task

from aggregation.clock import Clock
from portal.audit import witness
from portal.clock import civil_clock
from portal.tasks import opening, running
from portal.tasks.models import Task

log = logging.getLogger(__name__)


@shared_task(name="tasks.advance_windows", ignore_result=True)
def advance_windows() -> None:
    clock = civil_clock()
    _each(opening.tasks_with_due_windows(clock.now()), opening.advance_windows, clock)


@shared_task(name="tasks.extend_windows", ignore_result=True)
def extend_windows() -> None:
    _each(opening.tasks_to_extend(), _extend, civil_clock())


def _extend(*, task: Task, clock: Clock) -> None:
    if running.pause_if_untrusted(task=task, clock=clock):
        return
    if not running.end_if_over(task=task, clock=clock):
        opening.extend_windows(task=task, clock=clock)


def _each(tasks: Iterable[Task], do: Callable[..., None], clock: Clock) -> None:
    """One task's trouble is not the others': it is logged, and asked again at the next beat."""
    if witness.is_behind():
        return
    for task in tasks:
        try:
            do(task=task, clock=clock)
        except Exception:
            log.exception("The windows of task %s could not be moved on.", task.name)
