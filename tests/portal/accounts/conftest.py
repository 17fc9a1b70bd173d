"""What the tests of people and tokens share."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """Half a second of hashing for each password would be most of what these tests do."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def token(clock: Any) -> Callable[..., Any]:
    """Make a token: `token(ada, "read", "author")` gives the token and its secret."""
    from portal.accounts.tokens import create_token

    def make(owner: Any, *scopes: str, name: str = "notebook", lifetime_days: int = 30) -> Any:
        return create_token(
            owner=owner,
            name=name,
            scopes=scopes or ("read",),
            lifetime_days=lifetime_days,
            clock=clock,
        )

    return make


@pytest.fixture
def sign_in() -> Callable[..., Any]:
    """Fill in the sign-in form, from an address of one's own."""

    def attempt(
        username: str, password: str = PASSWORD, *, address: str = "192.0.2.1", **more: str
    ) -> Any:
        client = Client(REMOTE_ADDR=address)
        answer = client.post("/login", {"username": username, "password": password, **more})
        answer.browser = client
        return answer

    return attempt


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}
