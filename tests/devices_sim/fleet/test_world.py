"""A world answers the same question the same way, in whatever order, and in its streams' words."""

from collections import Counter
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from devices_sim.device.fitting import fit_of
from devices_sim.fleet.draws import BLOCK
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, WEEK, real_catalog, world

PHONES = st.integers(0, 1023)
MOMENTS = st.floats(MONDAY - 3 * 86_400, MONDAY + 9 * 86_400)


def small(**overrides):
    return world("demo", phones=1200, **overrides)


def test_it_works():
    trips = small().events(0, "trips", MONDAY, MONDAY + SECONDS)
    assert trips
    assert small().population(0) in {"BR", "DE", "FI", "FR", "GB", "IN", "JP", "US"}
    assert small().consents(0)
    assert small().installed(0) < MONDAY


def test_the_first_week_begins_at_or_after_the_epoch():
    at_once = World(load_scenario("demo", phones=1), real_catalog(), epoch=MONDAY)
    assert small().week_0 == at_once.week_0 == WEEK.start.timestamp()


@given(
    phone=PHONES, ends=st.tuples(MOMENTS, MOMENTS), stream=st.sampled_from(["trips", "assistant"])
)
def test_events_are_in_order_within_their_span_and_fit_their_stream(phone, ends, stream):
    start, end = min(ends), max(ends)
    events = small().events(phone, stream, start, end)
    assert all(start <= event.time < end for event in events)
    assert all(one.time <= other.time for one, other in pairwise(events))
    assert all(map(fit_of(stream, real_catalog()), events))


@given(phone=PHONES, ends=st.tuples(MOMENTS, MOMENTS, MOMENTS))
def test_a_span_holds_what_its_parts_hold(phone, ends):
    first, middle, last = sorted(ends)
    for ask in (
        lambda a, b: small().events(phone, "trips", a, b),
        lambda a, b: small().events(phone, "assistant", a, b),
        lambda a, b: small().wake_ups(phone, a, b),
    ):
        assert ask(first, middle) + ask(middle, last) == ask(first, last)


@given(phone=PHONES, start=MOMENTS)
def test_every_way_out_of_a_region_leads_into_another(phone, start):
    events = small().events(phone, "trips", start, start + 5 * 86_400)
    ways = [e for e in events if e.values[3] != "within"]
    for out, into in zip(ways[::2], ways[1::2], strict=True):
        assert (out.values[3], into.values[3]) == ("outbound", "inbound")
        assert out.values[0] != into.values[0]
        assert (out.time, out.values[2], out.values[4:]) == (
            into.time,
            into.values[2],
            into.values[4:],
        )


def answers(made, phones):
    spans = (MONDAY - 3600, MONDAY + 12 * 86_400)
    return {
        phone: (
            made.population(phone),
            made.installed(phone),
            made.consents(phone),
            made.unusual(phone),
            made.events(phone, "trips", *spans),
            made.events(phone, "assistant", *spans),
            made.wake_ups(phone, *spans),
        )
        for phone in phones
    }


def test_the_order_of_asking_makes_no_difference():
    phones = [3, 700, 701, 1100]
    shuffled = Random(1).sample(phones, len(phones))
    fresh = World(small().scenario, real_catalog(), epoch=MONDAY - 3600)
    for week in (3, -1, 2):  # other weeks come and go in between
        fresh.events(700, "trips", MONDAY + week * SECONDS, MONDAY + (week + 1) * SECONDS)
    assert answers(fresh, shuffled) == answers(small(), phones)


def test_more_phones_change_nothing_for_those_there_are():
    phones = [0, 511, 512, 599]
    assert answers(world("demo", phones=600), phones) == answers(small(), phones)


def test_another_seed_is_another_world():
    assert answers(small(seed=1), [5]) != answers(small(), [5])


def test_people_live_where_the_scenario_says_by_its_weights():
    made = small()
    homes = Counter(made.places.ids[rank] for rank in made.homes[:1200].tolist())
    assert set(homes) == set(made.scenario.places)
    assert all(49 <= count <= 51 for count in homes.values())


def test_the_whole_world_is_peopled_by_population():
    made = world("world", phones=20 * BLOCK)
    share = np.bincount(made.homes, minlength=len(made.places.ids)) / len(made.homes)
    wanted = made.places.population / made.places.population.sum()
    assert np.abs(share - wanted).max() < 0.001


def test_a_place_that_is_no_region_gets_a_sentence():
    scenario = load_scenario("demo", places={"1": 1.0})
    with pytest.raises(Problem, match="place 1 is no region"):
        World(scenario, real_catalog(), epoch=MONDAY)


def test_a_region_that_is_no_place_gets_a_sentence(catalog):
    with pytest.raises(Problem, match="region 1001 of the catalog is not in GeoNames"):
        World(load_scenario("demo"), catalog, epoch=MONDAY)


def test_an_unknown_stream_gets_a_sentence():
    with pytest.raises(Problem, match="stream 'steps'"):
        small().events(0, "steps", MONDAY, MONDAY + SECONDS)


def test_no_more_is_held_than_four_weeks():
    made = World(load_scenario("demo", phones=10), real_catalog(), epoch=MONDAY)
    held = []
    for week in range(8):
        made.events(0, "trips", MONDAY + week * SECONDS, MONDAY + (week + 1) * SECONDS)
        held.append(made.nbytes)
    assert held[0] < held[1] < held[2] < held[3]
    assert max(held) < 1.1 * held[3]
