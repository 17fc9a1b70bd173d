"""The theme is a cookie, so that the server draws every page in it from the first byte."""

import pytest
from django.test import Client


def test_it_works(db: None, client: Client) -> None:
    answer = client.post("/theme", {"theme": "dark", "next": "/docs?q=window"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/docs?q=window")
    assert answer.cookies["theme"].value == "dark"
    assert '<html lang="en" data-theme="dark">' in client.get("/").content.decode()


@pytest.mark.parametrize("theme", ["", "pink", '"><script>'])
def test_it_takes_only_the_three_themes(db: None, client: Client, theme: str) -> None:
    client.post("/theme", {"theme": theme})
    assert client.cookies["theme"].value == "system"


def test_it_ignores_a_cookie_that_somebody_else_wrote(db: None, client: Client) -> None:
    client.cookies["theme"] = '"><script>'
    assert 'data-theme="system"' in client.get("/").content.decode()


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_it_leads_nowhere_else(db: None, client: Client, target: str) -> None:
    answer = client.post("/theme", {"theme": "dark", "next": target})
    assert answer.headers["Location"] == "/"


def test_it_cannot_be_changed_by_a_link(db: None, client: Client) -> None:
    assert client.get("/theme").status_code == 405
