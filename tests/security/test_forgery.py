"""No address that changes something can be called from another site."""

import pytest
from django.test import Client

from portal.accounts.models import Role
from tests.security.routes import Route, routes

pytestmark = pytest.mark.django_db
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


def address(route: Route) -> str:
    """Whether it leads to something does not matter: the token is asked for first."""
    found = route.template
    for argument in route.arguments:
        word = "cost" if argument == "panel" else "1"
        found = found.replace(f"{{{argument}}}", word)
    return found


def test_every_unsafe_request_of_a_session_needs_its_token(person):
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(*Role.values))
    forged = [
        (verb, route.template, answer.status_code)
        for route in routes()
        for verb in UNSAFE
        if not refused(answer := client.generic(verb, address(route), b"{}", "application/json"))
    ]
    assert not forged


def refused(answer):
    """For want of a token; or because the address takes no such verb, which it says without it."""
    if answer.status_code == 405:
        return True
    told = answer.content.decode()
    return answer.status_code == 403 and ("CSRF" in told or "The form had expired" in told)


def test_a_token_of_another_browser_is_no_use(person):
    own, other = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    for client in (own, other):
        client.force_login(person("analyst"))
        client.get("/account")
    stolen = other.cookies["csrftoken"].value
    assert own.post("/theme", {"csrfmiddlewaretoken": stolen}).status_code == 403
    mine = own.cookies["csrftoken"].value
    assert own.post("/theme", {"csrfmiddlewaretoken": mine}).status_code == 302


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://testserver.evil"])
def test_another_origin_is_refused_with_a_good_token_too(person, origin):
    client = Client(enforce_csrf_checks=True)
    client.force_login(person("analyst"))
    client.get("/account")
    fields = {"csrfmiddlewaretoken": client.cookies["csrftoken"].value}
    assert client.post("/theme", fields, headers={"origin": origin}).status_code == 403


def test_looking_changes_nothing(person):
    """A link from another site carries the cookie: GET must not sign out, end or approve."""
    client = Client()
    client.force_login(person(*Role.values))
    for name in ("logout", "switch_role", "theme", "pause_task", "end_task"):
        (route,) = [one for one in routes() if one.name == name]
        assert client.get(address(route)).status_code == 405
