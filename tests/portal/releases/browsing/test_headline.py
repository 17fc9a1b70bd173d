"""A release in words, also where the sum over everything is not shown."""

from portal.releases.browsing.headline import of_places


def test_parts_are_told_where_the_whole_is_not_shown(tables, earlier):
    found = of_places(tables, earlier)
    assert len(found) == 3
    assert all(one.is_shown for one in found)
    # The last activity is the largest, and no place is named that it is not about.
    assert found[0].sentence.startswith("On 2026-11-18 people flew")


def test_of_emissions_too(tables, earlier):
    assert "people emitted" in of_places(tables, earlier, "co2e_kg")[0].sentence
