"""The heartbeat's questions about sessions and partials, and the long job that is a session."""

import threading
from typing import Any

from celery import shared_task

from portal.audit import witness
from portal.clock import civil_clock
from portal.collection import active, erasing, fleet_counts, merging, placing, running, snapshot


@shared_task(name="collection.place_sessions", ignore_result=True)
def place_sessions() -> None:
    if witness.is_behind():
        return
    witness.remember()
    for session_id in placing.place_sessions(clock=civil_clock()):
        run_session.delay(session_id)


@shared_task(name="collection.run_session", ignore_result=True, bind=True, acks_late=False)
def run_session(self: Any, session_id: str) -> None:
    keeper = running.run_session(
        session_id=session_id, worker=str(self.request.hostname), clock=civil_clock()
    )
    if keeper:  # beside the next session: what is kept takes no slot
        threading.Thread(target=keeper.keep, name="keeping", daemon=True).start()


@shared_task(name="collection.publish_snapshot", ignore_result=True)
def publish_snapshot() -> None:
    if not witness.is_behind():
        snapshot.publish_snapshot(clock=civil_clock())


@shared_task(name="collection.count_fleet", ignore_result=True)
def count_fleet() -> None:
    active.count_active_devices(clock=civil_clock())
    fleet_counts.keep_counts(clock=civil_clock())


@shared_task(name="collection.merge_partials", ignore_result=True)
def merge_partials() -> None:
    if not witness.is_behind():
        merging.merge_partials(clock=civil_clock())


@shared_task(name="collection.erase_partials", ignore_result=True)
def erase_partials() -> None:
    """A database that has forgotten something would erase keys that the true one needs."""
    if not witness.is_behind():
        erasing.erase_partials(clock=civil_clock())
