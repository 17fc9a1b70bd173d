"""Who is not signed in is asked to sign in, and is afterwards where they wanted to be."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

PAGE, BUTTON = "/tasks/weekly?view=all", "/tasks/weekly/duplicate"
# Behind each of the two decorators.
BUTTONS = [BUTTON, "/notifications/read"]


def _next(method: str, address: str, came_from: str | None = None) -> str:
    headers = {"Referer": came_from} if came_from else {}
    answer = Client().generic(method, address, headers=headers)
    assert answer.status_code == 302
    return answer["Location"]


@pytest.mark.parametrize("address", ["/tasks/weekly", "/notifications", "/ledger?week=2026-W46"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_it_works(method: str, address: str) -> None:
    assert _next(method, address).startswith(f"/login?next={address.split('?', maxsplit=1)[0]}")


@pytest.mark.parametrize("button", BUTTONS)
def test_after_a_button_one_is_back_at_its_page(button: str) -> None:
    assert _next("POST", button, f"http://testserver{PAGE}") == (
        "/login?next=/tasks/weekly%3Fview%3Dall"
    )


@pytest.mark.parametrize("button", BUTTONS)
def test_a_button_of_nobody_knows_where_leads_home(button: str) -> None:
    assert _next("POST", button) == "/login?next=/"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/tasks",
        "http://testserver.evil.example/",
        "//evil.example/",
        "javascript:alert(1)",
        "http://testserver:1@evil.example/",
    ],
)
def test_another_site_is_no_way_back(elsewhere: str) -> None:
    assert _next("POST", BUTTON, elsewhere) == "/login?next=/"


def test_signing_in_after_a_button_shows_a_page(person, sign_in) -> None:
    person("analyst", username="ada")
    wanted = _next("POST", "/notifications/read", "http://testserver/notifications")
    answer = sign_in("ada", next=wanted.partition("next=")[2])
    assert answer["Location"] == "/notifications"
    assert answer.browser.get(answer["Location"]).status_code == 200
