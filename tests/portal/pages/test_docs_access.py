"""What the documentation says about roles, tokens, limits and the API is what the code says."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from portal.accounts import sign_in, tokens
from portal.accounts.models import Role, Scope
from portal.api import Pages
from portal.openapi import document
from portal.throttles import parse_rate
from tests.portal.pages.reading_docs import fences, tables, text


def test_roles_and_scopes_are_described_in_the_portal_s_words() -> None:
    found = dict(tables("people"))
    assert [row[:2] for row in found["Roles"]] == [[r.value, r.does] for r in Role]
    assert found["Scopes"] == [[s.value, s.allows] for s in Scope]


def test_the_limits_of_signing_in_are_the_code_s() -> None:
    minutes = int(sign_in.WINDOW.total_seconds() // 60)
    assert (
        f"In {minutes} minutes there may be at most {sign_in.NAME_LIMIT} failed sign-ins for a "
        f"name, and {sign_in.ADDRESS_LIMIT} from an address."
    ) in text("people")
    shortest = settings.AUTH_PASSWORD_VALIDATORS[1]["OPTIONS"]["min_length"]
    assert f"A password has at least {shortest} characters" in text("people")
    assert f"A session lasts {settings.SESSION_COOKIE_AGE // 3600} hours" in text("people")


def test_the_lives_of_tokens_are_the_code_s() -> None:
    *first, last = tokens.LIFETIMES_DAYS
    days = f"{', '.join(str(n) for n in first)} or {last} days"
    assert f"a life of {days}" in text("people")


def test_every_call_of_the_api_is_described_with_what_it_needs() -> None:
    described = {row[0]: (row[2], row[3]) for row in dict(tables("api"))["Calls"]}
    assert described == {
        f"{method.upper()} {path}": _needs(operation["x-access"])
        for path, item in document()["paths"].items()
        for method, operation in item.items()
    }


def _needs(access: dict[str, Any]) -> tuple[str, str]:
    scope = "no token" if access["in_person"] else access["scope"] or "none"
    return " or ".join(access["roles"]) or "any", scope


def test_pages_and_limits_are_the_code_s() -> None:
    rates = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
    person, guest = (parse_rate(str(rates[kind]))[0] for kind in ("person", "anonymous"))
    assert f"{person} calls a minute; a guest's address {guest}" in text("api")
    assert f"pages of {Pages.page_size}." in text("api")
    assert f"?page_size={Pages.max_page_size}" in text("api")


@pytest.mark.parametrize(
    ("status", "code", "ask"),
    [
        (401, "not_authenticated", lambda c: Client().get("/api/v1/me")),
        (401, "authentication_failed", lambda c: c.get("/api/v1/me", headers=_bearer("mfly_x"))),
        (403, "permission_denied", lambda c: c.get("/api/v1/people")),
        (404, "not_found", lambda c: c.post("/api/v1/tokens/999/revoke")),
        (405, "method_not_allowed", lambda c: c.delete("/api/v1/me")),
    ],
)
def test_errors_come_as_described(
    signed_in: Callable[..., Client], status: int, code: str, ask: Callable[[Client], Any]
) -> None:
    answer = ask(signed_in("analyst"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert [str(status), code] in [row[:2] for row in dict(tables("api"))["Errors"]]


def test_the_example_of_an_error_is_what_comes(signed_in: Callable[..., Client]) -> None:
    examples = [json.loads(block.content) for block in fences("api", "json")]
    (example,) = [one for one in examples if "error" in one]
    known = {"X-Request-ID": example["error"]["request_id"]}
    answer = signed_in("reviewer").get("/api/v1/audit?first_day=yesterday", headers=known)
    assert answer.status_code == 400
    assert answer.json() == example


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}
