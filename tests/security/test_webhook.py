"""The one address that the server calls is the operator's word, and nobody else's."""

import runpy

import pytest
from django.apps import apps
from django.test import Client

from aggregation.errors import Problem
from portal.notifications.sending import send_due_deliveries
from tests.parts import ROOT
from tests.portal.notifications.conftest import receiver, tell

__all__ = ["receiver", "tell"]


@pytest.mark.django_db
def test_nothing_that_people_send_changes_where_it_goes(receiver, tell, person, clock):
    """Not the host of a request, nor a title, a link or a name that looks like an address."""
    elsewhere = "http://169.254.169.254/latest/meta-data"
    headers = {"x-forwarded-host": "169.254.169.254", "origin": elsewhere, "referer": elsewhere}
    Client().post("/login", {"username": elsewhere, "password": "x"}, headers=headers)
    ada = person("analyst", username="ada")
    ada.full_name = elsewhere
    ada.save()
    tell(ada, title=elsewhere, body=elsewhere)
    send_due_deliveries(clock=clock, machine=clock)
    assert len(receiver.calls) == 1
    assert receiver.calls[0].headers["Host"] == receiver.url.split("/")[2]


def test_no_row_holds_an_address_to_call():
    """A model with one would be a way for people to choose it."""
    kinds = {
        (model.__name__, field.name)
        for model in apps.get_models()
        if model.__module__.startswith("portal.")
        for field in model._meta.get_fields()
        if type(field).__name__ == "URLField" or "url" in field.name or "hook" in field.name
    }
    assert kinds == set()


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://a/b", "gopher://a", "//a/b", "javascript:1", "/a"]
)
def test_only_http_is_spoken(address, monkeypatch, tmp_path):
    monkeypatch.setenv("MAYFLY_DATA", str(tmp_path))
    monkeypatch.setenv("MAYFLY_WEBHOOK_URL", address)
    monkeypatch.setenv("MAYFLY_WEBHOOK_SECRET", "s" * 40)
    with pytest.raises(Problem):
        runpy.run_path(str(ROOT / "portal" / "settings.py"))
