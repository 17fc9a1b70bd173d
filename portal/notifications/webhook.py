"""The webhook: one signed call per event, so that a receiver can tell ours from anyone's.

The signature covers the time of the call and every byte of the body; a receiver that also
refuses old times cannot be fed a recorded call later. The secret itself never travels.
"""

import hashlib
import hmac
import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from django.conf import settings

from aggregation.clock import Clock
from portal.notifications.models import Event
from portal.notifications.outcomes import NotSent, Outcome, Sent

TIMEOUT_SECONDS = 10


def call_webhook(event: Event, *, machine: Clock) -> Outcome:
    """POST the event. Only an answer in the two hundreds counts; redirects are not followed."""
    if not settings.WEBHOOK_URL:
        return NotSent("There is no webhook any more.")
    try:
        with _opener.open(_request(event, machine=machine), timeout=TIMEOUT_SECONDS) as answer:
            status = answer.status
    except urllib.error.HTTPError as answer:
        status = answer.code
        answer.close()
    except TimeoutError:
        return NotSent(f"The webhook did not answer within {TIMEOUT_SECONDS} s.", unreachable=True)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return NotSent(f"The webhook could not be reached ({_why(error)}).", unreachable=True)
    return Sent() if 200 <= status < 300 else NotSent(f"The webhook answered {status}.")


def body_of_call(event: Event) -> bytes:
    """The same bytes on every attempt."""
    content = {
        "id": str(event.pk),
        "kind": event.kind,
        "title": event.title,
        "body": event.body,
        "link": settings.PUBLIC_URL + event.link,
        "created_at": event.created_at.isoformat(timespec="milliseconds"),
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def signature(*, secret: str, at: int, body: bytes) -> str:
    """What the header Mayfly-Signature holds: the time in unix seconds, and an HMAC over both."""
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def _request(event: Event, *, machine: Clock) -> urllib.request.Request:
    body = body_of_call(event)
    at = int(machine.now().timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Mayfly/{settings.VERSION}",
        "Mayfly-Event-Id": str(event.pk),
        "Mayfly-Signature": signature(secret=settings.WEBHOOK_SECRET, at=at, body=body),
    }
    # The settings let only http and https addresses through.
    return urllib.request.Request(settings.WEBHOOK_URL, body, headers, method="POST")  # noqa: S310


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry a signed call to an address that nobody configured."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _why(error: Exception) -> str:
    """A word or two, without the address: it may hold a password."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return getattr(cause, "strerror", None) or type(cause).__name__
