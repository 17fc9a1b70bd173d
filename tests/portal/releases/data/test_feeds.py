"""The Atom feed of a task: absolute links, the newest first, public ones for guests."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from tests.portal.releases.browsing.conftest import FIRST, SECOND

AT = "/releases/trips-by-region/feed.atom"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def feed(released):
    def read(client: Client) -> ElementTree.Element:
        answer = client.get(AT)
        assert answer.status_code == 200
        assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
        return ElementTree.fromstring(answer.content)  # noqa: S314 - our own

    return read


def test_it_works(feed, client, settings):
    for reader in (client, Client()):
        found = feed(reader)
        assert found.find(f"{ATOM}title").text == "Releases of trips-by-region"
        links = {link.get("rel"): link.get("href") for link in found.findall(f"{ATOM}link")}
        assert links["self"] == f"{settings.PUBLIC_URL}{AT}"
        entries = found.findall(f"{ATOM}entry")
        addresses = [entry.find(f"{ATOM}link").get("href") for entry in entries]
        assert addresses == [
            f"{settings.PUBLIC_URL}/releases/trips-by-region/{window}" for window in (SECOND, FIRST)
        ]
        assert entries[0].find(f"{ATOM}id").text == addresses[0]
        assert "ε = 0.5 per device and day" in entries[0].find(f"{ATOM}summary").text
    assert feed(client).find(f"{ATOM}updated").text.startswith("2026-11-")


def test_guests_are_asked_to_sign_in_for_what_is_not_public(released, client, settings):
    assert client.get("/releases/nothing/feed.atom").status_code == 404
    assert Client().get("/releases/nothing/feed.atom").status_code == 302
    settings.PUBLIC_RELEASES = False
    assert Client().get(AT).status_code == 302
    assert client.get(AT).status_code == 200
