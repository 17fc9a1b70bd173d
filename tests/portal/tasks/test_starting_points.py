"""Every starting point is a task that could be submitted as it stands."""

import pytest

from aggregation.compiler import Compiled, compile_spec
from portal.streams.geography import most_populous_places
from portal.tasks.starting_points import starting_point, starting_points

SLUGS = [point.slug for point in starting_points()]


@pytest.mark.parametrize("slug", SLUGS)
def test_it_compiles_without_a_warning(slug, catalog):
    compiled = compile_spec(starting_point(slug).spec, catalog)
    assert isinstance(compiled, Compiled), compiled
    assert compiled.diagnostics == ()


@pytest.mark.parametrize("slug", SLUGS)
def test_it_carries_its_own_name_and_says_what_it_answers(slug):
    point = starting_point(slug)
    assert point.spec.name == slug
    assert point.answers.endswith("?")
    assert point.spec.description
    assert not point.text.startswith("#")


def test_it_compiles_for_the_whole_world():
    from aggregation.protocol.shipped import shipped_catalog

    places = most_populous_places(50_000)
    catalog = shipped_catalog(
        regions=[str(place.geonameid) for place in places.places],
        countries=sorted({place.country for place in places.places}),
    )
    for point in starting_points():
        assert isinstance(compile_spec(point.spec, catalog), Compiled), point.slug


def test_each_kind_of_window_budget_leaves_room_for_others():
    from portal.tasks.forecast import weekly_cost

    for point in starting_points():
        cost = weekly_cost(point.spec.anonymization.epsilon, point.spec.window.unit)
        assert cost <= 2, point.slug


def test_an_unknown_one_is_none():
    assert starting_point("nothing") is None
