"""The heartbeat's questions: which windows are to be released, and which releases lack files?"""

from celery import shared_task

from portal import heartbeats
from portal.audit import witness
from portal.clock import civil_clock
from portal.releases import running


@shared_task(name="releases.release_due_windows", ignore_result=True)
def release_due_windows() -> None:
    if not witness.is_behind():
        running.release_due_windows(clock=civil_clock(), worker=heartbeats.this_worker())


@shared_task(name="releases.render_releases", ignore_result=True)
def render_releases() -> None:
    running.render_releases()


@shared_task(name="releases.restore_files", ignore_result=True)
def restore_files() -> None:
    running.restore_files()
