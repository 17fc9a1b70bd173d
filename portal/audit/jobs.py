"""The heartbeat's questions to the audit log."""

from celery import shared_task

from portal.audit.verification import verify_log


@shared_task(name="audit.verify_new_entries", ignore_result=True)
def verify_new_entries() -> None:
    verify_log(whole=False)


@shared_task(name="audit.verify_chain", ignore_result=True)
def verify_chain() -> None:
    verify_log(whole=True)
