"""Settling: what becomes of an update's windows, and how far the next contribution is from them."""

from __future__ import annotations

import msgspec

from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.consent import opt_in
from devices_sim.device.facts import facts
from devices_sim.device.local_log import lines
from devices_sim.device.once_only import Settle, Stage
from devices_sim.device.settling import give_up_outlived, give_up_unlisted, settle
from devices_sim.device.state import Pending, Progress, State

SHA = "a" * 64
DAYS = ("2026-11-09", "2026-11-10", "2026-11-11")
NEXT = [Window.parse("2026-11-12", Unit.DAY)]


def on_its_way() -> tuple[State, Pending]:
    pending = Pending(
        task="daily",
        client_task=SHA,
        session="5" * 32,
        update="7" * 16,
        token="",
        unit=Unit.DAY,
        windows=DAYS,
        streams=("trips",),
        stage=Stage.QUEUED,
        sealed=b"",
    )
    progress = {name: Progress(Unit.DAY, high=DAYS[0]) for name in ("daily", SHA)}
    state = State(1, started=0.0, pending=[pending])
    state.tasks["daily"], state.client_tasks[SHA] = progress["daily"], progress[SHA]
    return state, pending


def since(state: State) -> int | None:
    return facts(state, "daily", NEXT, (), now=0.0).windows_since_contribution


def test_the_distance_is_counted_from_what_is_on_its_way() -> None:
    state, _ = on_its_way()
    assert since(state) == 1


def test_the_distance_is_counted_from_what_was_counted() -> None:
    state, pending = on_its_way()
    settle(state, pending, Settle(counted=DAYS[:1], again=DAYS[1:]), now=0.0)
    assert since(state) == 3
    assert state.tasks["daily"].again == dict.fromkeys(DAYS[1:], SHA)


def test_what_may_be_counted_is_counted_from_too() -> None:
    state, pending = on_its_way()
    settle(state, pending, Settle(given_up=DAYS[:2], again=DAYS[2:]), now=0.0)
    assert since(state) == 2


def test_what_goes_again_never_was_a_contribution() -> None:
    state, pending = on_its_way()
    settle(state, pending, Settle(again=DAYS), now=0.0)
    assert since(state) is None


def test_what_is_no_longer_listed_may_be_counted() -> None:
    state, pending = on_its_way()
    settle(state, pending, Settle(again=DAYS), now=0.0)
    assert give_up_unlisted(state, {("daily", SHA, DAYS[2])}, now=0.0) == 2
    assert since(state) == 2
    assert list(state.tasks["daily"].again) == [DAYS[2]]
    assert state.client_tasks[SHA].high == DAYS[2]


def test_the_log_says_only_what_happened() -> None:
    state, pending = on_its_way()
    settle(state, pending, Settle(counted=DAYS), now=0.0)
    assert [line.what for line in lines(state)] == [f"daily, {', '.join(DAYS)}: counted."]


def test_agreeing_twice_keeps_the_first_moment() -> None:
    state = State(1, started=0.0)
    opt_in(state, "trips", now=100.0)
    opt_in(state, "trips", now=200.0)
    assert state.consents == {"trips": 100.0}


def test_an_update_is_waited_for_as_long_as_any_of_its_events_lives(catalog: Catalog) -> None:
    state, pending = on_its_way()
    pending.streams = ("assistant", "trips")
    streams = {stream.name: stream for stream in catalog}
    streams["assistant"] = msgspec.structs.replace(streams["assistant"], ttl_days=2)
    over = Window.parse(DAYS[-1], Unit.DAY).end.timestamp() + streams["trips"].ttl_days * 86_400
    give_up_outlived(state, Catalog(streams, {}), now=over)
    assert state.pending == [pending]
    give_up_outlived(state, Catalog(streams, {}), now=over + 1)
    assert (state.pending, since(state)) == ([], 1)


def test_an_older_update_does_not_bring_the_newest_contribution_back() -> None:
    state, pending = on_its_way()
    state.tasks["daily"].counted = DAYS[2]
    settle(state, pending, Settle(counted=DAYS[:1], given_up=DAYS[1:2], again=DAYS[2:]), now=0.0)
    assert since(state) == 1
