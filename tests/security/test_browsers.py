"""What browsers are told: by every page, by errors, by files, and in production about HTTPS."""

import runpy
from typing import Any

import pytest
from django.templatetags.static import static
from django.test import Client

from portal.body_limit import BodyLimit
from tests.parts import ROOT
from tests.portal.accounts.conftest import PASSWORD
from tests.portal.test_settings import PRODUCTION
from tests.security.headers import problems

pytestmark = pytest.mark.django_db
# What differs between the profiles, of what browsers are told.
PROTECTION = ("SECURE_", "SESSION_", "CSRF_", "ALLOWED_HOSTS", "DEBUG", "DEMO", "X_FRAME")


@pytest.fixture
def production(settings: Any, monkeypatch: Any, tmp_path: Any) -> Client:
    """A browser over HTTPS, with everything that the production profile says about it."""
    for name, value in {**PRODUCTION, "MAYFLY_DATA": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MAYFLY_HEARTBEAT_SECONDS", raising=False)
    for name, value in runpy.run_path(str(ROOT / "portal" / "settings.py")).items():
        if name.startswith(PROTECTION):
            setattr(settings, name, value)
    return Client(HTTP_HOST="mayfly.example.org")


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/docs", 200), ("/login", 200), ("/nothing", 404), ("/logout", 405),
     ("/api/v1/me", 401), ("/api/v1/nothing", 404), ("/releases/key.pem", 200)],
)  # fmt: skip
def test_guests_are_told(path: str, status: int) -> None:
    answer = Client().get(path)
    assert answer.status_code == status
    assert problems(answer.headers, path, signed_in=False) == []


def test_a_page_that_fails_is_told_the_same_and_nothing_of_why(
    signed_in: Any, monkeypatch: Any
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("canary-of-a-secret")

    monkeypatch.setattr("portal.pages.views.cards_for", broken)
    client = signed_in("analyst")
    client.raise_request_exception = False
    answer = client.get("/", headers={"x-request-note": "canary-of-a-header"})
    assert answer.status_code == 500
    assert b"canary" not in answer.content
    assert b"RuntimeError" not in answer.content
    assert b"Traceback" not in answer.content
    assert problems(answer.headers, "/", signed_in=True) == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a:b@127.0.0.1"])
def test_another_host_is_refused_with_the_same_words_to_browsers(host: str) -> None:
    answer = Client().get("/login", headers={"host": host})
    assert answer.status_code == 400
    assert host.encode() not in answer.content
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_files_are_told_too() -> None:
    answer = Client().get(static("css/base.css"))
    assert answer.status_code == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


def test_files_outside_their_folder_are_not_there() -> None:
    for path in (
        "../portal/settings.py",
        "%2e%2e/settings.py",
        "/etc/passwd",
        "../keys/secret-key",
    ):
        assert Client().get(f"/static/{path}").status_code == 404


def test_a_body_that_is_too_long_is_told_too() -> None:
    import asyncio

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def never() -> Any:
        raise AssertionError

    scope = {"type": "http", "path": "/login", "headers": [(b"content-length", b"99")]}
    asyncio.run(BodyLimit(never, most=10)(scope, never, send))  # type: ignore[arg-type]
    headers = {key.decode().title(): value.decode() for key, value in sent[0]["headers"]}
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["Cache-Control"] == "no-store"


def test_production_says_https_for_a_year(production: Client) -> None:
    answer = production.get("/login", secure=True)
    assert answer.status_code == 200
    told = answer.headers["Strict-Transport-Security"]
    assert told == "max-age=31536000; includeSubDomains; preload"


def test_production_sends_plain_http_away(production: Client) -> None:
    answer = Client(HTTP_HOST="mayfly.example.org").get("/login?next=/account")
    assert answer.status_code == 301
    assert answer.headers["Location"] == "https://mayfly.example.org/login?next=/account"


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(
    production: Client, person: Any
) -> None:
    person("analyst", username="ada")
    form = {"username": "ada", "password": PASSWORD}
    assert production.post("/login", form, secure=True).status_code == 302
    production.post("/theme", {"theme": "dark"}, secure=True)
    assert set(production.cookies) == {"__Host-sessionid", "__Host-csrftoken", "theme"}
    for cookie in production.cookies.values():
        assert cookie["secure"]
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
        assert cookie["path"] == "/"
        assert not cookie["domain"]
    assert 0 < int(production.cookies["__Host-sessionid"]["max-age"]) <= 12 * 3600
