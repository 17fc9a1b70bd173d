"""Where requests come from: a household is one address, however many it has."""

import pytest
from django.test import RequestFactory

from portal.addresses import address_of


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("a unix socket", "a unix socket"),
    ],
)
def test_a_household_counts_as_one_address(given, counted):
    assert address_of(RequestFactory(REMOTE_ADDR=given).get("/")) == counted
