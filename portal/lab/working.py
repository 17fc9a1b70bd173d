"""A study, run: what it is asked goes in, and its result or a sentence comes out."""

import logging
import time
from collections.abc import Callable

from aggregation.clock import Clock
from aggregation.errors import Problem
from portal.collection.draining import is_draining
from portal.lab import kinds, selectors, services
from portal.lab.child import run_in_child
from portal.lab.models import Study
from portal.lab.running import Stopped

log = logging.getLogger(__name__)

_EVERY_SECONDS = 0.5
FAULT = "Something went wrong on our side. The worker's log says what."
LOST = "Its worker stopped before it was done. Ask for it again."


def run_next_study(*, clock: Clock, draining: Callable[[], bool] = is_draining) -> None:
    """One heartbeat's work: bury what is dead, and run what has waited longest."""
    for study in selectors.lapsed():
        services.fail_study(study=study, why=LOST, clock=clock)
    waiting = selectors.next_waiting()
    if waiting and not draining() and services.begin_study(study=waiting, clock=clock):
        run_in_child(study=waiting, clock=clock, is_draining=draining)


def work(*, study: Study, clock: Clock) -> None:
    """To its end, in this process."""
    watch = _Watch(study.pk)
    try:
        result = kinds.run(study.kind, study.parameters, watch.progress, watch.cancelled)
        services.finish_study(study=study, result=result, clock=clock)
    except Stopped:
        log.info("Study %s was stopped.", study.pk)
    except Problem as problem:
        services.fail_study(study=study, why=str(problem), clock=clock)
    except Exception:
        log.exception("Study %s failed.", study.pk)
        services.fail_study(study=study, why=FAULT, clock=clock)


class _Watch:
    """Writes down how far a study is and asks whether it goes on, though not more than it must."""

    def __init__(self, study_id: int) -> None:
        self._study_id, self._share = study_id, 0.0
        self._goes_on, self._again_at = True, 0.0

    def progress(self, share: float) -> None:
        self._share = share
        self._look()

    def cancelled(self) -> bool:
        self._look()
        return not self._goes_on

    def _look(self) -> None:
        if self._goes_on and time.monotonic() >= self._again_at:
            self._goes_on = services.note_progress(study_id=self._study_id, share=self._share)
            self._again_at = time.monotonic() + _EVERY_SECONDS
