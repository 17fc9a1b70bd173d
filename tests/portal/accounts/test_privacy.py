import pytest
from django.test import Client

from tests.portal.accounts.conftest import bearer

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "path",
    ["/", "/account", "/people", "/audit", "/notifications", "/docs", "/api/v1/me", "/nowhere"],
)
def test_what_a_person_sees_is_kept_in_no_cache(signed_in, path):
    assert "no-store" in signed_in("operator").get(path)["Cache-Control"]


def test_what_a_program_is_answered_is_kept_in_no_cache(person, token):
    answer = Client().get("/api/v1/me", headers=bearer(token(person()).secret))
    assert answer["Cache-Control"] == "private, no-store"


def test_what_everyone_may_see_can_be_cached():
    assert "Cache-Control" not in Client().get("/docs").headers
