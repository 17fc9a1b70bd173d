"""What `manage.py up` says once everything answers."""

import pytest
from django.test import RequestFactory

from portal.management.commands.up import banner
from portal.supervisor import system


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_a_demo_on_this_machine_only_says_who_can_sign_in(settings, address):
    settings.BIND = address
    assert "the password is the name" in banner()
    assert "Careful" not in banner()


@pytest.mark.parametrize("address", ["::", "10.0.0.7", "192.0.2.7", "mayfly.example.org"])
def test_a_demo_that_others_can_reach_says_so(settings, address):
    settings.BIND = address
    careful = f"Careful: on {address}, anyone who reaches this port can sign in as any of them."
    assert careful in banner()


def test_production_names_nobody(settings):
    settings.DEMO, settings.BIND = False, "192.0.2.7"
    assert "Careful" not in banner()
    assert "analyst" not in banner()


@pytest.mark.parametrize("host", ["*", ".example.org", "[::1]", "mayfly.example.org"])
def test_it_asks_whether_all_is_well_by_a_name_that_is_answered(settings, host):
    settings.ALLOWED_HOSTS = [host]
    assert RequestFactory().get("/health", headers={"host": system._own_name()}).get_host()
