"""The heartbeat's questions: what has happened that people are told of, and what is due?"""

import threading

from celery import shared_task

from portal.clock import civil_clock
from portal.notifications import services
from portal.notifications.sending import send_due_deliveries as send
from portal.notifications.watching import tell_of_new_entries as tell

# One sender a process: slow mail servers and webhooks never take all of a worker's threads.
_sending = threading.Lock()


@shared_task(name="notifications.tell_of_new_entries", ignore_result=True)
def tell_of_new_entries() -> None:
    tell(clock=civil_clock())


@shared_task(name="notifications.forget_old_events", ignore_result=True)
def forget_old_events() -> None:
    services.forget_old_events(clock=civil_clock())


@shared_task(name="notifications.send_due_deliveries", ignore_result=True)
def send_due_deliveries() -> None:
    if _sending.acquire(blocking=False):
        try:
            send(clock=civil_clock())
        finally:
            _sending.release()
