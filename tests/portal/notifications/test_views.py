"""The pages: one's own notifications, deliveries for operators, the demo's outbox."""

import pytest
from django.core.mail import EmailMessage
from django.core.mail.message import BadHeaderError
from django.test import Client

from portal.notifications import outbox
from portal.notifications.models import Delivery, Email, Notification

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


@pytest.fixture
def client(signed_in, ada):
    return signed_in(who=ada)


def test_it_works(client, ada, tell):
    tell(ada, title="Zürich is ready")
    page = client.get("/notifications")
    assert page.status_code == 200
    assert page.context["section"] == "notifications"
    text = page.content.decode()
    assert "Zürich is ready" in text
    assert "It was seen from here.<br>Twice." in text
    assert text.count('badge-info">New') == 1


def test_someone_without_notifications_is_told_what_will_come(client):
    page = client.get("/notifications").content.decode()
    assert "Nothing yet" in page
    assert "choose “follow the task”" in page


def test_people_see_only_their_own(client, person, tell):
    tell(person("reviewer"), title="For somebody else")
    assert "For somebody else" not in client.get("/notifications").content.decode()


def test_what_people_typed_is_shown_as_text(client, ada, tell):
    tell(ada, title=HOSTILE, body=HOSTILE)
    text = client.get("/notifications").content.decode()
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert text.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2


def test_opening_marks_as_read_and_leads_to_the_place(client, ada, tell):
    notification = tell(ada, link="/streams/trips?q=a%20b").notifications.get()
    answer = client.get(f"/notifications/{notification.pk}/open")
    assert (answer.status_code, answer["Location"]) == (302, "/streams/trips?q=a%20b")
    notification.refresh_from_db()
    assert notification.read_at


def test_one_can_be_marked_as_read(client, ada, tell):
    notification = tell(ada).notifications.get()
    assert client.get(f"/notifications/{notification.pk}/read").status_code == 405
    assert client.post(f"/notifications/{notification.pk}/read").status_code == 302
    notification.refresh_from_db()
    assert notification.read_at


def test_all_can_be_marked_as_read(client, ada, tell):
    tell(ada)
    newest = tell(ada).notifications.get()
    assert client.get("/notifications/read").status_code == 405
    page = client.get("/notifications").content.decode()
    assert f'name="up_to" value="{newest.pk}"' in page
    tell(ada)
    client.post("/notifications/read", {"up_to": newest.pk})
    assert Notification.objects.filter(read_at=None).count() == 1


@pytest.mark.parametrize("up_to", ["", "all", "-1", "9" * 30])
def test_nonsense_marks_nothing(client, ada, tell, up_to):
    tell(ada)
    assert client.post("/notifications/read", {"up_to": up_to}).status_code == 302
    assert Notification.objects.get().read_at is None


@pytest.mark.parametrize("what", ["open", "read"])
def test_somebody_elses_notification_does_not_exist(client, person, tell, what):
    notification = tell(person("reviewer")).notifications.get()
    send = client.get if what == "open" else client.post
    assert send(f"/notifications/{notification.pk}/{what}").status_code == 404
    notification.refresh_from_db()
    assert notification.read_at is None


@pytest.mark.parametrize("number", [0, 2**63, 10**40])
def test_numbers_that_no_notification_has_are_not_found(client, number):
    assert client.get(f"/notifications/{number}/open").status_code == 404
    assert client.post(f"/notifications/{number}/read").status_code == 404


def test_changes_need_the_csrf_token(ada, tell):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(ada)
    notification = tell(ada).notifications.get()
    for path in (f"/notifications/{notification.pk}/read", "/notifications/read"):
        assert careful.post(path, {"up_to": 99}).status_code == 403
    assert Notification.objects.get().read_at is None


@pytest.mark.parametrize("path", ["", "/1/open", "/deliveries"])
@pytest.mark.django_db
def test_guests_are_asked_to_sign_in(path):
    answer = Client().get(f"/notifications{path}")
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/login")


def test_the_bell_shows_how_many_are_unread(client, ada, tell):
    assert "bell-count" not in client.get("/notifications/unread").content.decode()
    tell(ada)
    tell(ada)
    answer = client.get("/notifications/unread")
    assert 'aria-hidden="true">2</span>' in answer.content.decode()
    assert "Notifications, 2 unread" in answer.content.decode()
    assert "<html" not in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert "Notifications, 2 unread" in client.get("/notifications").content.decode()


def test_a_hundred_unread_ones_fit_the_bell(client, ada, tell):
    for _ in range(100):
        tell(ada)
    assert ">99+<" in client.get("/notifications/unread").content.decode()


def test_asking_for_the_bell_takes_three_queries(client, django_assert_max_num_queries):
    with django_assert_max_num_queries(3):  # the session, the person, the number
        client.get("/notifications/unread")


@pytest.mark.django_db
def test_a_bell_whose_person_has_signed_out_stops_asking():
    answer = Client().get("/notifications/unread")
    assert answer.status_code == 286
    assert "bell-count" not in answer.content.decode()


def test_a_long_list_takes_as_many_queries_as_a_short_one(
    client, ada, tell, django_assert_max_num_queries
):
    for _ in range(30):
        tell(ada)
    with django_assert_max_num_queries(7):
        page = client.get("/notifications")
    assert len(page.context["page"].object_list) == 25


def test_operators_see_what_failed_and_can_try_again(signed_in, ada, tell):
    operator = signed_in("operator")
    assert "Nothing has failed" in operator.get("/notifications/deliveries").content.decode()
    delivery = tell(ada, title=HOSTILE).deliveries.get()
    Delivery.objects.update(state="failed", attempts=4, error="The mail server answered 421.")
    text = operator.get("/notifications/deliveries").content.decode()
    assert "The mail server answered 421." in text
    assert "<script>alert" not in text
    again = operator.post(f"/notifications/deliveries/{delivery.pk}/retry", follow=True)
    assert "Queued again." in again.content.decode()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("queued", 0)
    twice = operator.post(f"/notifications/deliveries/{delivery.pk}/retry", follow=True)
    assert "is queued already" in twice.content.decode()


def test_operators_can_try_all_again(signed_in, ada, person, tell):
    operator = signed_in("operator")
    tell(ada, person("reviewer"))
    Delivery.objects.update(state="failed", attempts=4)
    assert "Try all again" in operator.get("/notifications/deliveries").content.decode()
    operator.post("/notifications/deliveries/retry")
    assert set(Delivery.objects.values_list("state", flat=True)) == {"queued"}


@pytest.mark.parametrize(
    ("query", "shown"), [("", 0), ("?state=failed", 0), ("?state=queued", 1), ("?state=all", 1)]
)
def test_deliveries_are_filtered_by_state(signed_in, ada, tell, query, shown):
    tell(ada)
    page = signed_in("operator").get(f"/notifications/deliveries{query}")
    assert len(page.context["page"].object_list) == shown


def test_a_state_that_does_not_exist_shows_what_failed(signed_in):
    page = signed_in("operator").get("/notifications/deliveries?state=lost")
    assert page.context["state"] == "failed"


@pytest.mark.parametrize("role", ["analyst", "reviewer", "consumer"])
def test_deliveries_are_for_operators(signed_in, ada, tell, role):
    other, delivery = signed_in(role), tell(ada).deliveries.get()
    Delivery.objects.update(state="failed")
    assert other.get("/notifications/deliveries").status_code == 403
    assert other.post("/notifications/deliveries/retry").status_code == 403
    assert other.post(f"/notifications/deliveries/{delivery.pk}/retry").status_code == 403
    assert Delivery.objects.get().state == "failed"


def test_the_outbox_shows_what_would_have_been_sent(client, ada, tell, settings, clock):
    from portal.notifications.sending import send_due_deliveries

    settings.EMAIL_BACKEND = "portal.notifications.outbox.OutboxBackend"
    assert "No e-mail yet" in client.get("/outbox").content.decode()
    tell(ada, title="Zürich is ready", body=HOSTILE)
    assert send_due_deliveries(clock=clock, machine=clock) == 1
    text = client.get("/outbox").content.decode()
    assert "[Mayfly] Zürich is ready" in text
    assert "ada@example.org" in text
    assert "<script>alert" not in text


def test_the_outbox_exists_in_the_demo_only(client, settings):
    settings.DEMO = False
    assert client.get("/outbox").status_code == 404


@pytest.mark.django_db
def test_the_outbox_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(outbox, "KEPT", 3)
    for number in range(5):
        message = EmailMessage(f"number {number}", "text", to=["ada@example.org"])
        outbox.OutboxBackend().send_messages([message])
    subjects = list(Email.objects.values_list("subject", flat=True))
    assert subjects == ["number 4", "number 3", "number 2"]


@pytest.mark.django_db
def test_the_outbox_refuses_what_a_mail_server_would():
    with pytest.raises(BadHeaderError):
        outbox.OutboxBackend().send_messages(
            [EmailMessage("a\nBcc: eve@example.org", "", to=["a"])]
        )
