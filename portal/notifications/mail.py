"""An e-mail to one person about one event, as plain text."""

import smtplib

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse

from portal.notifications.models import Notification
from portal.notifications.outcomes import NotSent, Outcome, Sent

_FOOTER = (
    "-- \n"
    "Mayfly sends you e-mail because your account asks for it.\n"
    "You can turn that off under your account in the portal.\n"
)


def send_email(notification: Notification) -> Outcome:
    """Hand it to the mail server of the settings, or to the demo's outbox."""
    recipient = notification.recipient
    if not (recipient.is_active and recipient.wants_email and recipient.email):
        return NotSent("The person no longer takes e-mail.")
    try:
        message_to(notification).send()
    except OSError as error:  # what smtplib raises is one, too
        return _explained(error)
    except ValueError:
        return NotSent("The person's address cannot stand in an e-mail.")
    return Sent()


def message_to(notification: Notification) -> EmailMessage:
    """The same Message-ID on every attempt: mail programs show a repeated one once."""
    event = notification.event
    link = settings.PUBLIC_URL + reverse("notification_open", args=[notification.pk])
    paragraphs = [event.title, event.body, f"See it in Mayfly: {link}", _FOOTER]
    host = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip("> ") or "localhost"
    return EmailMessage(
        subject=f"[Mayfly] {event.title}",
        body="\n\n".join(filter(None, paragraphs)),
        to=[notification.recipient.email],
        headers={
            "Message-ID": f"<{event.pk}.{notification.pk}@{host}>",
            "Auto-Submitted": "auto-generated",
        },
    )


def _explained(error: OSError) -> NotSent:
    """Codes and kinds only: what a mail server says in words may repeat addresses."""
    match error:
        case smtplib.SMTPRecipientsRefused():
            code = next(iter(error.recipients.values()))[0]
            return NotSent(f"The mail server refused the person's address ({code}).")
        case smtplib.SMTPResponseException():
            return NotSent(f"The mail server answered {error.smtp_code}.")
        case smtplib.SMTPServerDisconnected():
            return NotSent("The mail server closed the connection.", unreachable=True)
        case smtplib.SMTPException():
            kind = type(error).__name__
            return NotSent(f"The mail server did not take the message ({kind}).")
    reason = error.strerror or type(error).__name__
    return NotSent(f"The mail server could not be reached ({reason}).", unreachable=True)
