"""The page names every country that has figures of its own, and no other."""

from aggregation.release.emission_factors import AVERAGE, factor_table
from tests.portal.pages.reading_docs import tables


def test_every_country_with_its_own_figures_is_named() -> None:
    named = [row[0] for row in dict(tables("releases"))["Emissions"]]
    assert sorted(named) == sorted({r.country for r in factor_table().rows} - {AVERAGE})
