"""One phone against an honest server over real HTTP: the whole story."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.errors import Problem
from aggregation.protocol.client_task import Eligibility
from aggregation.protocol.streams import Catalog
from devices_sim.device.library import Library
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.waking import BEFORE, SOON, after_the_week, awake, over_http


def test_it_works(make_phone: MakePhone, peer: Peer, clock: ManualClock) -> None:
    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock, trip(region="1003"))
        did = await phone.wake_up()
        assert not did.stopped, did
        assert [(sent.task, sent.windows) for sent in did.sent] == [("weekly-trips", (WEEK.id,))]
        peer.flush_all()
        did = await phone.wake_up()
        assert (did.counted, did.on_their_way, did.sent) == (1, 0, [])
        assert [line.what for line in phone.log] == [
            "Started for the first time.",
            "You agreed to trips.",
            "Told the server that this feature is in use, once, with no name.",
            "Asked to take part in weekly-trips.",
            "Sent a sealed update for weekly-trips, 2026-11-09.",
            "weekly-trips, 2026-11-09: counted.",
            "Asked which tasks are open for DE.",
        ]
        sizes = {line.what.split()[0]: line.bytes for line in phone.log if line.bytes}
        assert sizes.keys() == {"Told", "Asked", "Sent"}
        assert did.checked_in

    over_http(peer, story)
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1, 66: 1}
    assert peer.calls == [
        *("active", "check_in", "assignments", "client_task", "upload"),
        *("status", "check_in"),
    ]


def test_a_query_takes_less_than_15_kb_both_ways(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock)
        first = (await phone.wake_up()).meter
        peer.flush_all()
        last = (await phone.wake_up()).meter
        assert 2000 < first.up < 6000
        assert 2000 < first.down < 6000
        assert first.up + first.down + last.up + last.down < 15_000

    over_http(peer, story)


@pytest.mark.parametrize("lost", ["request", "answer", "busy"])
@pytest.mark.parametrize(
    "name", ["active", "check_in", "assignments", "client_task", "upload", "status"]
)
def test_whatever_gets_lost_counts_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, lost: str, name: str
) -> None:
    once = {name}

    def fault(number: int, called: str) -> str:
        if called in once:
            once.remove(called)
            return lost
        return ""

    machine = [0.0]

    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api, machine=lambda: machine[0]), clock)
        for _ in range(3):
            await phone.wake_up()
            machine[0] += 60
        peer.flush_all()
        for _ in range(2):
            await phone.wake_up()
            machine[0] += 60
        assert phone.load().pending == []

    over_http(peer, story, fault)
    assert not once
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1}
    assert len({update for _, update, _ in peer.arrived}) == 1
    assert len({sealed for _, _, sealed in peer.arrived}) == 1


def test_a_late_phone_sends_its_windows_in_one_update(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions[0].grace = timedelta(days=21)
    phone = make_phone()
    phone.record("trips", trip(), trip(after=timedelta(days=8)))
    clock.set(WEEK.next().end + SOON)
    did = awake(phone)
    assert [sent.windows for sent in did.sent] == [("2026-11-09", "2026-11-16")]
    peer.flush_all()
    assert awake(phone).counted == 2
    assert peer.cells("weekly-trips", "2026-11-16") == {12: 1}


def test_updates_with_as_many_windows_have_one_length(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    sealed = []
    never = Eligibility(min_separation_windows=0, require_events=False)
    peer.revisions.clear()
    peer.add("weekly-trips", client_task(catalog, eligibility=never), approved_at=BEFORE)
    phones = [make_phone() for _ in range(3)]
    phones[1].record("trips", trip())
    phones[2].record("trips", *[trip(region=str(1001 + n % 12)) for n in range(500)])
    clock.set(WEEK.end + SOON)
    for phone in phones:
        sealed += [sent.bytes for sent in awake(phone).sent]
    assert len(sealed) == 3
    assert len(set(sealed)) == 1


def test_a_phone_downloads_a_task_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Each for itself, though phones of a process share what they read from it."""
    library = Library(catalog)
    phones = [make_phone(library=library) for _ in range(2)]
    for week in range(3):
        for phone in phones:
            phone.record("trips", trip(after=timedelta(days=7 * week + 1)))
        clock.set(WEEK.end + timedelta(days=7 * week) + SOON)
        assert [len(awake(phone).sent) for phone in phones] == [1, 1]
    assert peer.calls.count("client_task") == 2
    restarted = make_phone(phones[0].storage, library=Library(catalog))
    restarted.record("trips", trip(after=timedelta(days=22)))
    clock.advance(timedelta(days=7))
    assert len(awake(restarted).sent) == 1
    assert peer.calls.count("client_task") == 3


def test_a_task_without_events_of_its_own_streams_is_not_run(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Which streams it reads is known only once it is downloaded."""
    peer.revisions.clear()
    sql = "SELECT feature, privacy_time_unit, COUNT(*) FROM assistant GROUP BY 1, 2"
    reads = {"assistant": ("feature",)}
    task = client_task(catalog, reads=reads, keys=("feature",), metrics=("uses",), sql=sql)
    peer.add("uses", task, approved_at=BEFORE)
    phone = make_phone()
    phone.set_consent("assistant", True)
    did = awake(after_the_week(phone, clock))
    assert (did.sent, did.refused) == ([], 0)
    assert did.said == ["uses: No event lies in the windows that are waiting."]
    assert "assignments" in peer.calls
    peer.calls.clear()
    awake(phone)
    assert peer.calls == ["check_in"]  # by now it is known


def test_it_knows_only_its_streams(make_phone: MakePhone) -> None:
    phone = make_phone()
    with pytest.raises(Problem, match="no stream 'steps'"):
        phone.set_consent("steps", True)
    with pytest.raises(Problem, match="no stream 'steps'"):
        phone.record("steps", trip())


def test_it_tells_nothing_of_itself(make_phone: MakePhone, clock: ManualClock) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    state = phone.load()
    for shown in (repr(phone), repr(state), repr(state.pending[0]), repr(phone.storage)):
        assert "withheld" in shown
        assert "1001" not in shown
