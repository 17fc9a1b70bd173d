"""The demo's e-mail backend: messages become rows that the page /outbox shows."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

from portal.notifications.models import Email

KEPT = 500


class OutboxBackend(BaseEmailBackend):
    """Keeps the newest e-mails, so that a demo that runs for weeks does not grow for ever."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        rows = [_row(message) for message in email_messages]
        Email.objects.bulk_create(rows)
        _forget_old_ones()
        return len(rows)


def _row(message: EmailMessage) -> Email:
    # Building the message refuses line breaks in its headers, as sending it would.
    message.message()
    return Email(
        to=", ".join(message.recipients())[:500],
        subject=str(message.subject)[:300],
        body=str(message.body),
        sent_at=datetime.now(UTC),
    )


def _forget_old_ones() -> None:
    newest = Email.objects.order_by("-id").values_list("id", flat=True)
    if oldest_kept := newest[KEPT - 1 : KEPT].first():
        Email.objects.filter(id__lt=oldest_kept).delete()
