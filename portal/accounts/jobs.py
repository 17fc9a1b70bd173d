from datetime import UTC, datetime

from celery import shared_task
from django.contrib.sessions.backends.db import SessionStore

from portal.accounts.sign_in import forget_old_failures


@shared_task(name="accounts.forget_old_login_failures", ignore_result=True)
def forget_old_login_failures() -> None:
    forget_old_failures(now=datetime.now(UTC))


@shared_task(name="accounts.forget_old_sessions", ignore_result=True)
def forget_old_sessions() -> None:
    SessionStore.clear_expired()
