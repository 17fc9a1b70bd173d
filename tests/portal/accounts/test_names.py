import pytest
from django.core.exceptions import ValidationError

from aggregation.errors import Problem
from portal.accounts.models import ApiToken
from portal.accounts.names import only_what_is_seen
from portal.accounts.services import add_person
from tests.portal.accounts.conftest import PASSWORD


@pytest.mark.parametrize(
    "name", ["Ada Lovelace", "Zoë", "李小龍", "نیلوفر می\u200cخواهد", "O’Neil-Smith", ""]
)
def test_names_of_all_scripts_are_welcome(name):
    only_what_is_seen(name)


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x07", "\n", "\u2028", "\ue000"])
def test_what_nobody_sees_is_refused(hidden):
    with pytest.raises(ValidationError) as refused:
        only_what_is_seen(f"Ada{hidden}")
    assert f"U+{ord(hidden):04X}" in refused.value.message


def test_a_profile_cannot_be_drawn_as_somebody_elses(person, signed_in):
    ada = person(username="ada")
    page = signed_in(who=ada).post("/account", {"full_name": "\u202erotarepO"})
    assert "invisible character (U+202E)" in page.content.decode()
    ada.refresh_from_db()
    assert ada.full_name == ""


def test_a_person_is_not_added_under_such_a_name(db, clock):
    with pytest.raises(Problem) as refused:
        add_person(username="ada", full_name="Ada\u200b", roles=[], clock=clock)
    assert "invisible character" in str(refused.value)


def test_a_token_is_not_named_so(signed_in):
    fields = {
        "name": "night\u202ely",
        "scopes": ["read"],
        "lifetime_days": "30",
        "password": PASSWORD,
    }
    page = signed_in("analyst").post("/account/tokens", fields)
    assert "invisible character" in page.content.decode()
    assert not ApiToken.objects.exists()
