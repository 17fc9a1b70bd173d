"""The webhook, as a receiver sees it."""

import hashlib
import hmac
import json
import threading

import pytest

from portal.notifications import webhook
from portal.notifications.sending import send_due_deliveries

pytestmark = pytest.mark.django_db
SECRET = "a secret of more than thirty-two characters"


@pytest.fixture
def send(clock):
    return lambda: send_due_deliveries(clock=clock, machine=clock)


def is_ours(call, secret=SECRET):
    """Written from the documentation, not from our code."""
    parts = dict(part.split("=", 1) for part in call.headers["Mayfly-Signature"].split(","))
    signed = parts["t"].encode() + b"." + call.body
    wanted = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, parts["v1"])


def test_it_works(tell, send, receiver, clock):
    event = tell(title="Zürich is ready")
    assert send() == 1
    (call,) = receiver.calls
    assert is_ours(call)
    assert json.loads(call.body) == {
        "id": str(event.pk),
        "kind": "test.happened",
        "title": "Zürich is ready",
        "body": "It was seen from here.\nTwice.",
        "link": "http://127.0.0.1:8000/streams/trips",
        "created_at": "2026-11-16T12:00:00.000+00:00",
    }
    assert call.headers["Mayfly-Event-Id"] == str(event.pk)
    assert call.headers["Content-Type"] == "application/json"
    assert f"t={int(clock.now().timestamp())}," in call.headers["Mayfly-Signature"]
    assert SECRET not in str(call)


def test_a_changed_body_time_or_secret_breaks_the_signature(tell, send, receiver):
    tell()
    send()
    (call,) = receiver.calls
    assert not is_ours(call, secret=SECRET + ".")
    signed = call.headers["Mayfly-Signature"]
    call.headers["Mayfly-Signature"] = signed.replace("t=1", "t=2")
    assert not is_ours(call)
    call.headers["Mayfly-Signature"] = signed
    call.body = call.body.replace(b"Twice", b"Never")
    assert not is_ours(call)


def test_one_event_is_one_call_however_many_people_are_told(person, tell, send, receiver):
    tell(person("analyst"), person("reviewer"))
    send()
    assert len(receiver.calls) == 1


def test_a_retry_carries_the_same_event_and_a_new_time(tell, send, receiver, clock):
    tell()
    receiver.status = 500
    send()
    clock.advance(webhook_back_off())
    receiver.status = 200
    assert send() == 1
    first, second = receiver.calls
    assert first.body == second.body
    assert first.headers["Mayfly-Event-Id"] == second.headers["Mayfly-Event-Id"]
    assert first.headers["Mayfly-Signature"] != second.headers["Mayfly-Signature"]
    assert is_ours(second)


@pytest.mark.parametrize("status", [300, 304, 400, 404, 410, 500, 503])
def test_only_an_answer_in_the_two_hundreds_counts(tell, send, receiver, status):
    event = tell()
    receiver.status = status
    assert send() == 0
    assert event.deliveries.get().error == f"The webhook answered {status}."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(tell, send, receiver, status):
    event = tell()
    receiver.status, receiver.location = status, receiver.url + "/elsewhere"
    assert send() == 0
    assert len(receiver.calls) == 1
    assert event.deliveries.get().error == f"The webhook answered {status}."


def test_a_receiver_that_does_not_answer_is_given_up_on(tell, send, receiver, monkeypatch):
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.2)
    answered = threading.Event()
    receiver.before_answer = lambda: answered.wait(10)
    event = tell()
    assert send() == 0
    answered.set()
    assert event.deliveries.get().error == "The webhook did not answer within 0.2 s."


@pytest.mark.parametrize("address", ["http://user:hunter2@127.0.0.1:1/", "http://127.0.0.1:1/hook"])
@pytest.mark.usefixtures("receiver")
def test_an_error_does_not_repeat_the_address(tell, send, settings, address):
    settings.WEBHOOK_URL = address
    event = tell()
    assert send() == 0
    error = event.deliveries.get().error
    assert error.startswith("The webhook could not be reached (")
    assert "hunter2" not in error
    assert "127.0.0.1" not in error


def test_a_webhook_that_was_turned_off_is_not_called(tell, send, receiver, settings):
    event = tell()
    settings.WEBHOOK_URL = ""
    assert send() == 0
    assert event.deliveries.get().error == "There is no webhook any more."


def webhook_back_off():
    from portal.notifications.sending import BACK_OFF

    return BACK_OFF[0]
