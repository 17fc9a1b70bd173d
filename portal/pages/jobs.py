"""The heartbeat: one message that runs many jobs, and the first of them: does it beat at all?"""

from celery import current_app, shared_task
from django.db import connections

from portal import heartbeats, observing_jobs
from portal.collection.draining import is_draining


@shared_task(name="pages.ask", ignore_result=True)
def ask(names: list[str]) -> None:
    """One job after the other. One that fails is logged under its own name and stops no other: they
    go on, with a new connection to the database if theirs is broken.
    """
    failing = observing_jobs.names_failing()
    for name in names:
        if is_draining():
            return
        _leave_what_is_broken()
        if not current_app.tasks[name].apply().failed() and name in failing:
            observing_jobs.note_success(name)


def _leave_what_is_broken() -> None:
    """Also where a job has got over an error: the next one would meet it again."""
    for connection in connections.all(initialized_only=True):
        if connection.errors_occurred:
            connection.close()


@shared_task(name="pages.heartbeat", ignore_result=True)
def heartbeat() -> None:
    """Beat, broker and a worker work together."""
    heartbeats.beat("heartbeat")
