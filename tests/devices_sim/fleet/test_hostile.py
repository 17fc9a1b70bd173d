"""Hostile phones: every kind of bad update is what it says, and is refused for it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from aggregation.clock import ManualClock
from aggregation.errors import Problem
from aggregation.protocol.messages import Code
from aggregation.protocol.refusal import Reason
from aggregation.sessions.session import Session
from devices_sim.device.once_only import Queued
from devices_sim.fleet.bad_updates import AROUND, KINDS, bad_updates
from devices_sim.fleet.driver import Parts
from devices_sim.fleet.hostile import attack
from devices_sim.fleet.report import Report
from devices_sim.fleet.scenario import load_scenario
from tests.aggregation.ondevice.examples import WEEK, client_task
from tests.aggregation.sessions.examples import config
from tests.devices_sim.fleet.small_world import real_catalog
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import DirectApi

TASK = client_task(real_catalog())


class Recorder(DirectApi):
    """Takes every upload, as a session's queue would."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self.uploads: list[dict[str, Any]] = []

    async def upload(self, **given: Any) -> Queued:
        self.uploads.append(given)
        return Queued()


def sent_by(kind: str) -> tuple[list[dict[str, Any]], Peer]:
    clock = ManualClock(WEEK.end + timedelta(hours=1))
    peer = Peer(clock)
    peer.add("trips", TASK, approved_at=WEEK.start - timedelta(days=1))
    api, report = Recorder(peer), Report()
    asyncio.run(attack(kind, "DE", Parts(real_catalog(), peer.pins, api, clock, Random(1)), report))
    assert report.bad == {kind: 1}
    return api.uploads, peer


@pytest.mark.parametrize("kind", sorted(KINDS - AROUND))
def test_a_session_refuses_each_kind_for_its_reason(kind: str) -> None:
    uploads, peer = sent_by(kind)
    (known,) = peer.sessions.values()
    same = {"keys": TASK.keys, "metrics": TASK.metrics, "max_rows": TASK.max_rows}
    session = Session(
        id=known.id,
        config=config(client_task=TASK.sha256, **same),
        keys=known.keys,
        windows=[WEEK],
    )
    taken = session.take([(upload["update"], upload["sealed"]) for upload in uploads])
    assert taken.counts == {Reason(kind): 1}
    # A duplicate comes after a fine update, which holds nothing.
    assert taken.accepted == (1 if kind == Reason.DUPLICATE else 0)


def test_what_is_wrong_around_the_seal_never_gets_to_a_session() -> None:
    (upload,), peer = sent_by(Code.BAD_TOKEN)
    assert peer.upload(upload["session"], upload["update"], upload["token"], b"") == 422
    (upload,), _ = sent_by(Code.TOO_LARGE)
    assert len(upload["sealed"]) > 2**16


def test_a_kind_that_nobody_knows_is_refused_with_the_list() -> None:
    with pytest.raises(Problem, match="'rude' is no kind of bad update: there are bad_filler,"):
        load_scenario("hostile", hostile={"share": 0.1, "kinds": ["rude"]})


def test_the_scenario_has_every_kind() -> None:
    assert set(load_scenario("hostile").hostile.kinds) == KINDS


def test_every_reason_for_a_whole_update_has_a_bad_one() -> None:
    found = {str(reason) for reason, _ in bad_updates(TASK, WEEK.id)}
    assert found == KINDS - AROUND - {Reason.CANNOT_OPEN.value, Reason.DUPLICATE.value}
