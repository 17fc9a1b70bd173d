"""A study in a process of its own: it computes for minutes, and other jobs must not wait for it.

The worker starts it and watches it; whoever cancels only changes the row. A child whose worker is
gone ends by itself, its signs of life end with it, and the study is marked as failed.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection

from aggregation.clock import Clock
from portal.lab import services
from portal.lab.models import Study

LOOK_SECONDS = 0.5
_KILL_SECONDS = 2.0
# Releases and sessions come first.
_NICENESS = 10
# Held by the thread while it is in the database, and by whoever forks: a process that is forked in
# the middle of it would wait for ever for the locks that SQLite has in memory.
_at_rest = threading.Lock()


def run_in_child(*, study: Study, clock: Clock, is_draining: Callable[[], bool]) -> None:
    """Until the study is over, somebody cancels it, or this worker stops."""
    child = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "run_study", str(study.pk)],
        start_new_session=True,
    )
    try:
        while child.poll() is None:
            if is_draining():
                _end(child)
                _put_back(study, clock)
                return
            if not _is_running(study):
                return
            time.sleep(LOOK_SECONDS)
        if _is_running(study):
            why = f"Its process ended without a word (exit code {child.returncode})."
            services.fail_study(study=study, why=why, clock=clock)
    finally:
        _end(child)


def live_with_parent(study_id: int) -> None:
    """In the child: signs of life as long as the worker lives and the study is to go on."""
    os.nice(_NICENESS)
    rest, go_on = _at_rest.acquire, _at_rest.release
    os.register_at_fork(before=rest, after_in_parent=go_on, after_in_child=go_on)
    thread = threading.Thread(target=_live, args=(study_id, os.getppid()), daemon=True)
    thread.start()


def _live(study_id: int, parent: int) -> None:
    while os.getppid() == parent and _is_to_go_on(study_id):
        time.sleep(LOOK_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)


def _is_to_go_on(study_id: int) -> bool:
    """A sign of life, and whether anybody wants it; a database that is away asks for patience."""
    with _at_rest:
        try:
            return services.note_progress(study_id=study_id)
        except DatabaseError:
            return True
        finally:
            connection.close()


def _is_running(study: Study) -> bool:
    with suppress(DatabaseError):
        study.refresh_from_db(fields=["state"])
    return study.state == Study.State.RUNNING


def _put_back(study: Study, clock: Clock) -> None:
    if _is_running(study):
        services.put_back(study=study, clock=clock)


def _end(child: subprocess.Popen[bytes]) -> None:
    """With everything that it has started itself: a study may use several processes."""
    if child.poll() is None:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=_KILL_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
