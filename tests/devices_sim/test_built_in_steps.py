"""A phone runs the built-in steps it knows, as they were signed, and no others."""

import hashlib
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from aggregation.clock import ManualClock
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.steps import BUCKETS
from aggregation.protocol.streams import Catalog
from devices_sim.device.library import Library
from devices_sim.device.refusal import Refused
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.aggregation.ondevice.test_step import BY_ACTIVITY, calibration
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.waking import after_the_week, over_http


def added(catalog: Catalog, body: bytes) -> PreparedTask:
    return Library(catalog).add(hashlib.sha256(body).hexdigest(), body).prepared


def test_it_works(catalog: Catalog) -> None:
    prepared = added(catalog, calibration(catalog, BY_ACTIVITY).canonical())
    assert len(prepared.execute({"trips": [trip()]}, WEEK).ranks) == 3


def test_a_phone_answers_a_calibration_beside_the_task_it_calibrates(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    """Over real HTTP: one drive to each of two regions, of which it tells three buckets."""
    name, task = "weekly-trips-scales", calibration(catalog, BY_ACTIVITY, epsilon="1")
    peer.add(name, task, approved_at=WEEK.start - timedelta(days=1))

    async def story(api: Any) -> None:
        phone = after_the_week(make_phone(api=api), clock, trip(region="1003"))
        assert {sent.task for sent in (await phone.wake_up()).sent} == {"weekly-trips", name}
        peer.flush_all()

    over_http(peer, story)
    (part,) = peer.counted[name, WEEK.id]
    driving = 4 * 3 * BUCKETS
    assert part.ranks.tolist() == [driving + 4, driving + BUCKETS + 16, driving + 2 * BUCKETS + 20]
    assert set(part.values[:, 0].tolist()) == {round((GRID - 2.5) / 3)}


@pytest.mark.parametrize(
    ("signed", "instead", "says"),
    [
        (b'"kind":"slice_norms"', b'"kind":"every_event"', "no client task"),
        (b'"norms":{"by"', b'"norms":{"also":1,"by"', "no client task"),
        (b'"step":{"keys"', b'"step":{"also":1,"keys"', "not run by halves"),
        (b'"by":["activity"]', b'"by":["direction"]', "does not declare what its step makes"),
        (b'"by":["activity"]', b'"by":["planet"]', "not a key"),
        (b'"distance_km":1.0', b'"distance_km":-1.0', "positive number"),
    ],
)
def test_a_step_that_is_not_known_in_full_is_refused(
    catalog: Catalog, signed: bytes, instead: bytes, says: str
) -> None:
    body = calibration(catalog, BY_ACTIVITY).canonical()
    assert body.count(signed) == 1
    with pytest.raises(Refused, match=says):
        added(catalog, body.replace(signed, instead))


def test_a_phone_that_knows_no_steps_refuses_them(catalog: Catalog) -> None:
    """It reads a client task without the field, and finds that this is not what was signed."""
    task = calibration(catalog, BY_ACTIVITY)
    without = msgspec.structs.replace(task, step=msgspec.UNSET)
    assert without.canonical() != task.canonical()
