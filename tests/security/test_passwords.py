"""Long passwords of any script, every character of which counts."""

import pytest

from tests.portal.accounts.conftest import PASSWORD, sign_in

__all__ = ["sign_in"]
pytestmark = pytest.mark.django_db
LONG = "ein Pferd, 一頭の馬, лошадь 🐎, " * 4 + "!"


def test_a_long_password_counts_to_its_last_character(person, signed_in, sign_in):
    ada = person("analyst", username="ada")
    form = {"old_password": PASSWORD, "new_password1": LONG, "new_password2": LONG}
    assert len(LONG) > 100
    assert signed_in(who=ada).post("/account/password", form).status_code == 302
    assert sign_in("ada", LONG[:-1]).status_code == 200
    assert sign_in("ada", LONG[:-1] + "?").status_code == 200
    assert sign_in("ada", LONG).status_code == 302
