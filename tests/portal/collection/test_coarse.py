"""Counts as people see them."""

import pytest

from portal.collection.coarse import coarse


@pytest.mark.parametrize(
    ("exact", "shown"),
    [
        (0, "< 1000"), (1, "< 1000"), (999, "< 1000"), (1000, "1,000"), (1049, "1,000"),
        (1050, "1,100"), (12_499, "12,000"), (995_000, "1,000,000"), (123_456_789, "120,000,000"),
    ],
)  # fmt: skip
def test_it_has_two_significant_digits(exact, shown):
    assert coarse(exact) == shown


def test_one_device_more_or_less_is_rarely_seen():
    words = [coarse(count) for count in range(20_000)]
    assert len(set(words)) == 1 + 90 + 11
