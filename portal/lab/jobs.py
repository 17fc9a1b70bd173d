"""The heartbeat's question: which study is next?"""

from celery import shared_task

from portal.clock import civil_clock
from portal.lab import working


@shared_task(name="lab.run_next_study", ignore_result=True)
def run_next_study() -> None:
    working.run_next_study(clock=civil_clock())
