"""The heartbeat's questions to the audit log."""

import logging

from celery import shared_task

from portal.audit import witness
from portal.audit.verification import verify_log

log = logging.getLogger(__name__)


@shared_task(name="audit.verify_new_entries", ignore_result=True)
def verify_new_entries() -> None:
    verify_log(whole=False)
    if witness.is_behind():
        log.error("%s. Nothing is collected or released until it is accepted.", witness.BEHIND)


@shared_task(name="audit.verify_chain", ignore_result=True)
def verify_chain() -> None:
    verify_log(whole=True)
