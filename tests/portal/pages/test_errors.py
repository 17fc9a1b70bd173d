"""Pages for when something is wrong say what happened, and where to go."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.test import Client, RequestFactory

from portal.pages import errors

SignedIn = Callable[..., Client]


def test_a_missing_page_says_which_and_offers_the_nearest(signed_in: SignedIn) -> None:
    answer = signed_in("analyst").get("/stream")
    text = answer.content.decode()
    assert answer.status_code == 404
    assert "<code>/stream</code>" in text
    assert 'Did you mean <a href="/streams">Streams</a>?' in text


def test_a_person_who_is_not_there_is_a_page_that_is_not_there(signed_in: SignedIn) -> None:
    text = signed_in("operator").get("/people/999").content.decode()
    assert "No page has the address <code>/people/999</code>." in text
    assert "matches the given query" not in text


def test_a_missing_page_offers_only_what_one_may_see(signed_in: SignedIn) -> None:
    assert "Did you mean" not in signed_in("analyst").get("/peopl").content.decode()
    assert "Did you mean" in signed_in("operator").get("/peopl").content.decode()


def test_a_guest_is_reminded_to_sign_in(db: None, client: Client) -> None:
    assert "Some pages are only for people who are signed in." in (
        client.get("/nothing").content.decode()
    )


def test_an_address_cannot_write_into_the_page(db: None, client: Client) -> None:
    assert b"<script>alert" not in client.get("/<script>alert(1)</script>").content


@pytest.mark.parametrize("address", ["/tasks/weekly/pause", "/lab/new/reach", "/theme", "/logout"])
def test_an_address_that_belongs_to_a_button_says_so(signed_in: SignedIn, address: str) -> None:
    answer = signed_in("analyst").get(address)
    assert (answer.status_code, answer["Allow"].split(", ")[0]) == (405, "POST")
    assert "<h1>This is not a page</h1>" in answer.content.decode()
    assert f"<code>{address}</code> belongs to a button" in answer.content.decode()


def test_a_page_that_takes_nothing_says_so(db: None, client: Client) -> None:
    answer = client.post("/docs")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert "<h1>Nothing can be sent here</h1>" in answer.content.decode()


def test_a_forbidden_page_says_why_and_who_one_is(signed_in: SignedIn) -> None:
    answer = signed_in("analyst").get("/people")
    text = answer.content.decode()
    assert answer.status_code == 403
    assert "operator" in text
    assert "with the role analyst" in text


def test_a_form_without_its_token_explains_itself(person: Callable[..., object]) -> None:
    person("analyst", username="ada")
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/theme", {"theme": "dark"})
    assert answer.status_code == 403
    assert "The form had expired" in answer.content.decode()


def test_an_unexpected_error_gives_a_page_that_asks_nothing_of_other_parts() -> None:
    answer = errors.server_error(RequestFactory().get("/"))
    assert answer.status_code == 500
    assert "Something went wrong on our side" in answer.content.decode()


def test_a_host_that_is_not_ours_gets_a_page_that_says_so(db: None, client: Client) -> None:
    """It is refused before the middleware knows who asks."""
    answer = client.get("/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "MAYFLY_HOSTS" in answer.content.decode()


def test_a_request_that_makes_no_sense_gets_a_page(db: None) -> None:
    answer = errors.bad_request(RequestFactory().get("/x"), SuspiciousOperation())
    assert answer.status_code == 400
    assert "That request made no sense to us" in answer.content.decode()


def test_programs_get_the_error_shape(db: None, client: Client) -> None:
    answer = client.get("/api/v1/no-such-thing")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (404, "not_found")
    assert set(error) == {"code", "message", "hint", "fields", "request_id"}
    forbidden = errors.permission_denied(RequestFactory().get("/api/v1/x"), PermissionDenied("No."))
    assert b'"message": "No."' in forbidden.content


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/releases/key.pem", "<h1>A key of this system is missing</h1>"),
        ("/api/v1/release-key", '"message": "A key of this system is missing or damaged."'),
    ],
)
def test_a_key_that_is_gone_is_no_mistake_of_the_program(
    client: Client, settings: Any, tmp_path: Path, address: str, words: str
) -> None:
    settings.DEMO, settings.KEYS_DIR = False, tmp_path
    for _ in ("gone", "damaged"):
        answer = client.get(address)
        assert answer.status_code == 503
        assert words in answer.content.decode()
        assert str(tmp_path) not in answer.content.decode()
        (tmp_path / "release-key").write_bytes(b"half")
