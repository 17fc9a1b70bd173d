"""One's own notifications, for programs."""

import pytest
from django.test import Client

from portal.accounts.tokens import create_token
from portal.notifications.services import mark_read


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


def program(owner, clock, *scopes):
    made = create_token(
        owner=owner, name="-".join(scopes), scopes=scopes, lifetime_days=30, clock=clock
    )
    return Client(headers={"authorization": f"Bearer {made.secret}"})


def test_it_works(ada, tell, clock):
    event = tell(ada)
    answer = program(ada, clock, "read").get("/api/v1/notifications")
    assert answer.status_code == 200
    notification = event.notifications.get()
    assert answer.json() == {
        "count": 1,
        "next": None,
        "previous": None,
        "results": [
            {
                "id": notification.pk,
                "event_id": str(event.pk),
                "kind": "test.happened",
                "title": "Something happened",
                "body": "It was seen from here.\nTwice.",
                "link": "/streams/trips",
                "created_at": "2026-11-16T12:00:00Z",
                "civil_at": "2026-11-16T12:00:00Z",
                "read_at": None,
            }
        ],
    }


def test_only_ones_own_are_listed(ada, person, tell, clock):
    tell(person("reviewer"))
    assert program(ada, clock, "read").get("/api/v1/notifications").json()["count"] == 0


@pytest.mark.parametrize(("query", "count"), [("", 2), ("?unread=true", 1), ("?unread=false", 2)])
def test_read_ones_can_be_left_out(signed_in, ada, tell, query, count):
    tell(ada)
    mark_read(notification=tell(ada).notifications.get())
    answer = signed_in(who=ada).get(f"/api/v1/notifications{query}")
    assert answer.json()["count"] == count


def test_one_can_be_marked_as_read(ada, tell, clock):
    notification, client = tell(ada).notifications.get(), program(ada, clock, "author")
    first = client.post(f"/api/v1/notifications/{notification.pk}/read")
    assert first.status_code == 200
    assert first.json()["read_at"]
    assert client.post(f"/api/v1/notifications/{notification.pk}/read").json() == first.json()


def test_a_token_that_may_only_read_changes_nothing(ada, tell, clock):
    notification = tell(ada).notifications.get()
    answer = program(ada, clock, "read").post(f"/api/v1/notifications/{notification.pk}/read")
    assert answer.status_code == 403
    notification.refresh_from_db()
    assert notification.read_at is None


def test_somebody_elses_does_not_exist(ada, person, tell, clock):
    notification = tell(person("reviewer")).notifications.get()
    answer = program(ada, clock, "author").post(f"/api/v1/notifications/{notification.pk}/read")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"]
    notification.refresh_from_db()
    assert notification.read_at is None


@pytest.mark.django_db
def test_guests_are_refused():
    assert Client().get("/api/v1/notifications").status_code == 401


def test_a_session_needs_the_csrf_token_to_change(ada, tell):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(ada)
    notification = tell(ada).notifications.get()
    assert careful.post(f"/api/v1/notifications/{notification.pk}/read").status_code == 403
