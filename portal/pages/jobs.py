"""The job that shows that beat, broker and a worker work together."""

from celery import shared_task

from portal import heartbeats


@shared_task(name="pages.heartbeat", ignore_result=True)
def heartbeat() -> None:
    heartbeats.beat("heartbeat")
