"""Several tasks, revisions and names at once: each window once, all within the budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.protocol.client_task import Schedule
from aggregation.protocol.streams import Catalog
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi
from tests.devices_sim.waking import BEFORE, SOON, after_the_week, awake


def test_a_window_stays_with_its_revision(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    (session,) = peer.sessions.values()
    peer.kill(session)
    peer.revisions.clear()
    peer.add("weekly-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)
    did = awake(phone)
    assert (did.again, did.sent) == (1, [])


def test_two_revisions_do_not_share_a_window(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.add("weekly-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1


def test_a_client_task_under_another_name_gets_nothing_more(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    awake(phone)
    peer.flush_all()
    awake(phone)
    peer.revisions[0].task = "weekly-trips-again"
    assert awake(phone).sent == []


def test_a_client_task_under_two_names_at_once_is_run_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions.append(replace(peer.revisions[0], task="weekly-trips-again"))
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1
    assert len(peer.arrived) == 1


def test_a_task_offered_twice_is_run_once(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    peer.revisions.append(peer.revisions[0])
    phone = after_the_week(make_phone(), clock)
    assert len(awake(phone).sent) == 1


@pytest.mark.parametrize("already", [False, True])
def test_a_resumed_task_is_open_under_two_approvals(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog, already: bool
) -> None:
    """The same client task, twice; each assignment has its own windows."""
    first = peer.revisions[0]
    first.grace = timedelta(days=21)
    resumed = peer.add("weekly-trips", client_task(catalog), approved_at=WEEK.end)
    phone = make_phone()
    phone.record("trips", trip(), trip(after=timedelta(days=15)))
    first.offer = first.assigned = {"windows": ("2026-11-09",)}
    if already:
        clock.set(WEEK.end + SOON)
        resumed.offer = {"windows": ()}
        assert len(awake(phone).sent) == 1
    clock.set(WEEK.next().next().end + SOON)
    resumed.offer = {"windows": ("2026-11-23",)}
    sent = [each.windows for each in awake(phone).sent]
    assert sent == ([("2026-11-23",)] if already else [("2026-11-09",), ("2026-11-23",)])


def test_a_task_described_in_two_ways_is_refused(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    other = peer.add("weekly-trips", client_task(catalog), approved_at=BEFORE)
    other.offer["schedule"] = Schedule(max_runs_per_day=4, conditions=())
    phone = after_the_week(make_phone(), clock)
    did = awake(phone)
    assert (did.refused, did.sent) == (1, [])
    assert did.said == ["weekly-trips: The server described it in two ways."]


def test_all_tasks_together_keep_the_budget(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    for number in range(3):
        task = client_task(catalog, epsilon=f"1.0{number}")
        peer.add(f"task-{number}", task, approved_at=BEFORE)
    phone = after_the_week(make_phone(), clock)
    did = awake(phone)
    assert len(did.sent) == 2
    assert did.refused == 2
    assert phone.load().budget.weeks[WEEK.id]["trips"] <= 400
    assert all("is left." in line.why for line in phone.log if line.what.startswith("Refused"))


def test_a_fault_in_one_task_does_not_stop_the_others(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.add("other-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)

    class Faulty(DirectApi):
        async def client_task(self, sha256: str, meter: Any) -> bytes:
            if sha256 == peer.revisions[0].sha256:
                raise ZeroDivisionError("region 1001 on Monday morning")
            return await super().client_task(sha256, meter)

    phone = after_the_week(make_phone(api=Faulty(peer)), clock)
    did = awake(phone)
    assert [sent.task for sent in did.sent] == ["other-trips"]
    assert did.said == ["weekly-trips: could not be run."]
    assert not any("Monday" in str(line) for line in phone.log)
