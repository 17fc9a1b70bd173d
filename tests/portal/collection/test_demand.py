"""How many sessions there are: enough room for what arrives, slots shared, calm before fewer."""

from hypothesis import given
from hypothesis import strategies as st

from portal.collection.demand import BUSY, CROWDED, Need, Plan, Serving, plan

LEAD = 5.0


def need(revision=1, *loads, most=1000, arriving=0.0, busy=0.0, coming=0, leaving=0):
    serving = tuple(Serving(f"{revision}-{n}", load, busy) for n, load in enumerate(loads))
    return Need(revision, most, arriving, serving, coming, leaving)


def decide(*needs, slots=10, spare=1):
    return plan(needs, slots=slots, spare=spare, lead_seconds=LEAD)


def test_each_revision_has_one():
    assert decide(need(1), need(2)) == Plan(place=(1, 2))
    assert decide(need(1, 0.1), need(2, coming=1)) == Plan()


def test_it_grows_with_what_arrives():
    # 1000 devices until another one could be there, and room for 500.
    assert decide(need(1, 0.5, arriving=200)).place == (1,)
    assert decide(need(1, 0.5, arriving=1000)).place == (1,) * 5
    assert decide(need(1, 0.5, arriving=99)).place == ()
    # What is on its way counts as room.
    assert decide(need(1, 0.5, arriving=1000, coming=5)).place == ()


def test_it_grows_with_the_work():
    assert decide(need(1, 0.1, busy=BUSY)).place == ()
    assert decide(need(1, 0.1, busy=0.9)).place == (1,)
    assert decide(need(1, 0.1, 0.1, busy=1.0)).place == (1,)


def test_a_crowded_one_gets_company_whatever_arrives():
    assert decide(need(1, CROWDED)).place == (1,)
    assert decide(need(1, CROWDED, 0.1)).place == ()
    assert decide(need(1, CROWDED, coming=1)).place == ()


def test_first_sessions_come_before_company():
    assert decide(need(1, 0.5, arriving=1000), need(2), slots=2).place == (2, 1)
    # Whoever lacks most gets the next one.
    found = decide(need(1, 0.5, arriving=400), need(2, 0.5, arriving=2000), slots=3).place
    assert found == (2, 2, 2)


def test_slots_go_to_the_window_that_is_due_first():
    assert decide(need(1), need(2), need(3), slots=2) == Plan(place=(1, 2), waiting=(3,))


def test_spare_places_are_for_successors():
    assert decide(need(1), slots=0, spare=1).waiting == (1,)
    assert decide(need(1, leaving=1), slots=0, spare=1).place == (1,)
    assert decide(need(1, 0.9), slots=0, spare=1).place == (1,)
    assert decide(need(1, 0.1, arriving=9999), slots=0, spare=1).place == ()
    assert decide(need(1, leaving=1), need(2, leaving=1), slots=0, spare=1) == Plan(
        place=(1,), waiting=(2,)
    )
    # More is taken than there are slots: a spare place is in use already.
    assert decide(need(1, leaving=1), slots=-1, spare=1).waiting == (1,)


def test_one_of_several_gives_way_to_a_revision_without_any():
    found = decide(need(1, 0.2, 0.6), need(2), slots=0)
    assert (found.waiting, found.make_room) == ((2,), ("1-1",))
    # Somebody is leaving already: that slot is free in a moment.
    assert decide(need(1, 0.2, 0.6, leaving=1), need(2), slots=0).make_room == ()
    # If all have one each, it waits.
    assert decide(need(1, 0.2), need(2), slots=0) == Plan(waiting=(2,))


def test_it_shrinks_with_a_margin_and_keeps_the_one_with_room():
    assert decide(need(1, 0.2, 0.6)).surplus == {1: "1-1"}
    assert decide(need(1, 0.2)).surplus == {}
    assert decide(need(1, 0.2, 0.6, coming=1)).surplus == {}
    # 400 devices at least would be wanted twice.
    assert decide(need(1, 0.2, 0.6, arriving=80)).surplus == {1: "1-1"}
    assert decide(need(1, 0.2, 0.6, arriving=81)).surplus == {}
    assert decide(need(1, 0.2, 0.6, busy=0.2)).surplus == {}
    assert decide(need(1, CROWDED, 0.9)).surplus == {}


shares = st.floats(0, 1)
sessions = st.builds(Serving, st.uuids().map(str), shares, shares)
needs = st.builds(
    Need,
    revision=st.just(0),
    most=st.integers(1, 10_000),
    arriving=st.floats(0, 50_000),
    serving=st.lists(st.builds(Serving, st.uuids().map(str), shares, shares), max_size=5).map(
        tuple
    ),
    coming=st.integers(0, 2),
    leaving=st.integers(0, 2),
)


@given(st.lists(needs, max_size=6), st.integers(-2, 12), st.integers(0, 3))
def test_places_are_respected_and_nobody_is_asked_to_grow_and_to_shrink(found, slots, spare):
    numbered = [
        Need(n, one.most, one.arriving, one.serving, one.coming, one.leaving)
        for n, one in enumerate(found)
    ]
    decided = decide(*numbered, slots=slots, spare=spare)
    assert len(decided.place) <= max(0, slots + spare)
    assert not set(decided.place) & set(decided.waiting)
    without = {one.revision for one in numbered if not one.has}
    assert without == (set(decided.place) & without) | set(decided.waiting)
    assert not set(decided.surplus) & set(decided.place)
    # Nobody is left without the session that it has.
    ending = [*decided.make_room]
    for one in numbered:
        assert not one.serving or set(ending) & {s.id for s in one.serving} != {
            s.id for s in one.serving
        }


def test_applying_the_plan_settles():
    """Placed sessions come, open and share the room: then nothing more is wanted, and nothing less
    while it stays so."""
    before = need(1, 0.5, arriving=700)
    grown = Need(1, 1000, 700.0, (), coming=1 + len(decide(before).place))
    assert decide(grown) == Plan()
    opened = need(1, 0.5, *[0.0] * len(decide(before).place), arriving=700)
    assert decide(opened) == Plan()
