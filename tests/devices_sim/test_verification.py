"""What a phone refuses, one sentence each in its log; and that nothing is sent then."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aggregation.clock import ManualClock
from aggregation.errors import Problem
from aggregation.protocol.approval import sign
from aggregation.protocol.client_task import Eligibility, Schedule
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import sign_session_key
from aggregation.protocol.streams import Catalog
from aggregation.protocol.windows import Unit
from devices_sim.device.phone import Phone
from devices_sim.device.verification import Pins
from devices_sim.device.wake_up import WakeUp
from tests.aggregation.ondevice.examples import WEEK, client_task, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer, Revision

BEFORE = WEEK.start - timedelta(days=1)
STRANGER = Ed25519PrivateKey.from_private_bytes(b"s" * 32)


def awake(phone: Phone) -> WakeUp:
    return asyncio.run(phone.wake_up())


def why(phone: Phone) -> list[str]:
    return [line.why for line in phone.log if line.what.startswith("Refused")]


@pytest.fixture
def phone(make_phone: MakePhone, clock: ManualClock) -> Phone:
    """With a trip in a complete week."""
    phone = make_phone()
    phone.record("trips", trip())
    clock.set(WEEK.end + timedelta(hours=1))
    return phone


def refused(phone: Phone, peer: Peer, sentence: str) -> None:
    did = awake(phone)
    assert did.sent == []
    assert did.refused == 1, did
    assert why(phone) == [sentence]
    assert peer.arrived == []
    assert phone.load().budget.weeks == {}


def test_an_honest_task_is_run(phone: Phone, peer: Peer) -> None:
    assert [sent.windows for sent in awake(phone).sent] == [(WEEK.id,)]
    assert why(phone) == []
    assert len(peer.arrived) == 1


Break = Callable[[Revision, Peer], None]


def other_client_task(revision: Revision, peer: Peer) -> None:
    revision.assigned["client_task"] = "9" * 64


def other_task(revision: Revision, peer: Peer) -> None:
    revision.assigned["task"] = "another"


def approval_of_another(revision: Revision, peer: Peer) -> None:
    approval = msgspec.structs.replace(revision.approval, client_task="9" * 64)
    resigned(revision, peer, approval)


def resigned(revision: Revision, peer: Peer, approval: Any) -> None:
    revision.assigned["approval"] = approval
    revision.assigned["signature"] = sign(approval, peer.approval_key).hex()


def approved_alone(revision: Revision, peer: Peer) -> None:
    resigned(revision, peer, msgspec.structs.replace(revision.approval, approver="a" * 32))


def unknown_key(revision: Revision, peer: Peer) -> None:
    revision.assigned["key_id"] = "0" * 16


def signed_by_a_stranger(revision: Revision, peer: Peer) -> None:
    revision.assigned["signature"] = sign(revision.approval, STRANGER).hex()


def changed_after_signing(revision: Revision, peer: Peer) -> None:
    approval = msgspec.structs.replace(revision.approval, approved_at="2020-01-01T00:00:00.000000Z")
    revision.assigned["approval"] = approval


def without_a_moment(revision: Revision, peer: Peer) -> None:
    resigned(revision, peer, msgspec.structs.replace(revision.approval, approved_at="yesterday"))


def key_of_a_stranger(revision: Revision, peer: Peer) -> None:
    session = peer.session_for(revision)
    keys = SessionKeys.fresh()
    revision.assigned["public_key"] = keys.public.hex()
    revision.assigned["session_signature"] = sign_session_key(
        STRANGER, session=session.id, client_task=revision.sha256, public=keys.public
    ).hex()


def key_of_another_session(revision: Revision, peer: Peer) -> None:
    revision.assigned["session"] = "7" * 32


def other_bytes(revision: Revision, peer: Peer) -> None:
    revision.body += b" "


def other_criteria(revision: Revision, peer: Peer) -> None:
    asked = Eligibility(min_separation_windows=1, require_events=True, sql="SELECT 1")
    revision.offer["eligibility"] = asked


def other_schedule(revision: Revision, peer: Peer) -> None:
    revision.offer["schedule"] = Schedule(max_runs_per_day=4, conditions=())


def other_unit(revision: Revision, peer: Peer) -> None:
    revision.offer["window_unit"] = Unit.DAY


def no_windows(revision: Revision, peer: Peer) -> None:
    revision.offer["windows"] = ("2026-11-10",)


def approved_later(revision: Revision, peer: Peer) -> None:
    moment = "2026-11-09T00:00:00.000001Z"
    resigned(revision, peer, msgspec.structs.replace(revision.approval, approved_at=moment))


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (other_client_task, "The server assigned another task than this phone asked for."),
        (other_task, "The server assigned another task than this phone asked for."),
        (approval_of_another, "Its approval is for another client task."),
        (approved_alone, "Its author approved it alone; a second person has to."),
        (unknown_key, "It was approved with a key that this phone does not know."),
        (signed_by_a_stranger, "The signature of its approval does not hold."),
        (changed_after_signing, "The signature of its approval does not hold."),
        (without_a_moment, "Its approval does not say when it was given."),
        (key_of_a_stranger, "No known worker vouches for the key it would be sealed to."),
        (key_of_another_session, "No known worker vouches for the key it would be sealed to."),
        (other_bytes, "What was downloaded is not the task that was named: its hash differs."),
        (
            other_criteria,
            "Its eligibility criteria at check-in were not those that were approved.",
        ),
        (other_schedule, "Its schedule at check-in was not the one that was approved."),
        (other_unit, "It was offered by the day, but has weeks."),
        (no_windows, "Its list of windows is not one of weeks."),
        (approved_later, "2026-11-09 began before the task was approved."),
    ],
)
def test_it_refuses(phone: Phone, peer: Peer, break_it: Break, sentence: str) -> None:
    break_it(peer.revisions[0], peer)
    refused(phone, peer, sentence)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"populations": ("FR", "US")}, "It is for FR, US, not for DE."),
        ({"version": 2}, "It is written for version 2 of the runtime; this is 1."),
        (
            {"epsilon": "8.01"},
            "Its ε is '8.01'; this phone takes 0.01 to 8 for one window, in steps of 0.01.",
        ),
        (
            {"epsilon": "NaN"},
            "Its ε is 'NaN'; this phone takes 0.01 to 8 for one window, in steps of 0.01.",
        ),
        (
            {"epsilon": "0.005"},
            "Its ε is '0.005'; this phone takes 0.01 to 8 for one window, in steps of 0.01.",
        ),
        (
            {"epsilon": "4.01"},
            "2026-11-09: it would cost trips ε 4.01 in the week of 2026-11-09; 4 of 4 is left.",
        ),
        (
            {"streams": {"trips": "0" * 64}},
            "This device does not have the stream trips as the task knows it.",
        ),
        ({"streams": {}}, "It does not name the streams it reads."),
        ({"max_rows": 0}, "No update has 0 rows of 3 metrics."),
    ],
)
def test_it_refuses_a_signed_task(
    phone: Phone, peer: Peer, catalog: Catalog, changes: dict[str, Any], sentence: str
) -> None:
    peer.revisions.clear()
    peer.add("weekly-trips", client_task(catalog, **changes), approved_at=BEFORE)
    refused(phone, peer, sentence)


def test_it_refuses_a_task_with_more_in_it_than_it_knows(
    phone: Phone, peer: Peer, catalog: Catalog
) -> None:
    revision = peer.revisions[0]
    document = msgspec.json.decode(revision.body) | {"zeal": True}
    revision.body = msgspec.json.encode(document, order="sorted")
    revision.sha256 = hashlib.sha256(revision.body).hexdigest()
    resigned(
        revision, peer, msgspec.structs.replace(revision.approval, client_task=revision.sha256)
    )
    refused(phone, peer, "It holds more than this phone understands, and is not run by halves.")


def test_it_refuses_streams_its_owner_has_not_agreed_to(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = make_phone(agrees=False)
    phone.set_consent("assistant", True)
    peer.revisions[0].offer["eligibility"] = eligibility = Eligibility(
        min_separation_windows=0, require_events=False
    )
    changed = msgspec.structs.replace(peer.revisions[0].client_task, eligibility=eligibility)
    peer.revisions.clear()
    peer.add("weekly-trips", changed, approved_at=BEFORE)
    clock.set(WEEK.end)
    refused(phone, peer, "You have not agreed to trips.")


def test_it_refuses_windows_that_began_before_consent(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = make_phone(agrees=False)
    clock.advance(timedelta(days=2))
    phone.set_consent("trips", True)
    phone.record("trips", trip(after=timedelta(days=3)))
    clock.set(WEEK.end)
    refused(phone, peer, "2026-11-09 began before you agreed to what it reads.")


def test_a_window_may_begin_at_the_moment_of_approval_and_of_consent(
    phone: Phone, peer: Peer
) -> None:
    moment = "2026-11-09T00:00:00.000000Z"
    approval = msgspec.structs.replace(peer.revisions[0].approval, approved_at=moment)
    resigned(peer.revisions[0], peer, approval)
    assert phone.load().consents == {"trips": WEEK.start.timestamp()}
    assert len(awake(phone).sent) == 1


def test_every_window_that_began_too_early_is_refused(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    """Several of them, in one list."""
    peer.revisions[0].grace = timedelta(days=35)
    approved = msgspec.structs.replace(
        peer.revisions[0].approval, approved_at="2026-11-23T00:00:00.000001Z"
    )
    resigned(peer.revisions[0], peer, approved)
    phone = make_phone()
    phone.record("trips", *[trip(after=timedelta(days=7 * n + 1)) for n in range(4)])
    clock.set(WEEK.start + timedelta(days=28))
    did = awake(phone)
    assert why(phone) == [
        f"2026-11-{day} began before the task was approved." for day in ("09", "16", "23")
    ]
    assert [sent.windows for sent in did.sent] == [("2026-11-30",)]


def test_refused_windows_take_nothing_from_the_budget(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    peer.revisions.clear()
    daily = client_task(catalog, window_unit=Unit.DAY, epsilon="1.5")
    revision = peer.add("daily", daily, approved_at=BEFORE)
    moment = "2026-11-11T00:00:00.000000Z"
    resigned(revision, peer, msgspec.structs.replace(revision.approval, approved_at=moment))
    phone = make_phone()
    phone.record("trips", *[trip(after=timedelta(days=n, hours=1)) for n in range(3)])
    clock.set(WEEK.start + timedelta(days=3, hours=1))
    did = awake(phone)
    assert [sent.windows for sent in did.sent] == [("2026-11-11",)]
    assert did.refused == 2


def test_an_endless_list_of_windows_is_refused(phone: Phone, peer: Peer) -> None:
    weeks = [WEEK]
    for _ in range(1000):
        weeks.append(weeks[-1].next())
    peer.revisions[0].offer["windows"] = tuple(week.id for week in weeks)
    refused(phone, peer, "Its list of windows is not one of weeks.")


def test_a_task_never_changes_its_unit(
    phone: Phone, peer: Peer, clock: ManualClock, catalog: Catalog
) -> None:
    awake(phone)
    peer.revisions.clear()
    daily = client_task(catalog, window_unit=Unit.DAY)
    peer.add("weekly-trips", daily, approved_at=BEFORE)
    clock.advance(timedelta(days=2))
    did = awake(phone)
    assert did.refused == 1
    assert why(phone) == ["It had windows by the week; a task never changes that."]


def test_a_known_task_is_refused_before_it_is_asked_for(phone: Phone, peer: Peer) -> None:
    other_criteria(peer.revisions[0], peer)
    awake(phone)
    peer.calls.clear()
    awake(phone)
    assert peer.calls == ["check_in"]
    (line,) = [line for line in phone.log if line.what.startswith("Refused")]
    assert line.times == 2


def test_a_worker_key_does_not_approve(phone: Phone, peer: Peer) -> None:
    """Each key is for its own purpose."""
    phone.pins = Pins(approval=peer.pins.worker, worker=peer.pins.approval)
    awake(phone)
    assert why(phone) == ["It was approved with a key that this phone does not know."]


@pytest.mark.parametrize("hexes", [("", ""), ("00", "00"), ("zz" * 32, "00" * 32)])
def test_pins_are_two_keys(hexes: tuple[str, str]) -> None:
    with pytest.raises(Problem, match="device_keys"):
        Pins.of(approval=hexes[0], worker=hexes[1])


def test_pins_come_from_hex(peer: Peer) -> None:
    pins = peer.pins
    assert Pins.of(approval=pins.approval.hex(), worker=pins.worker.hex()) == pins


def test_one_refused_task_does_not_stop_the_others(
    phone: Phone, peer: Peer, catalog: Catalog
) -> None:
    approved_alone(peer.revisions[0], peer)
    peer.add("other-trips", client_task(catalog, epsilon="1"), approved_at=BEFORE)
    did = awake(phone)
    assert [sent.task for sent in did.sent] == ["other-trips"]
    assert did.refused == 1


def test_a_phone_that_was_updated_takes_what_another_key_signs(phone: Phone, peer: Peer) -> None:
    """Keys rotate: whoever pins the announced ones, too, goes on as before."""
    stranger = STRANGER.public_key().public_bytes_raw()
    pins = peer.pins
    phone.pins = Pins(stranger, stranger, (pins.approval,), (pins.worker,))
    assert len(awake(phone).sent) == 1
    assert why(phone) == []


def test_other_keys_are_for_their_own_purpose_too(phone: Phone, peer: Peer) -> None:
    stranger = STRANGER.public_key().public_bytes_raw()
    pins = peer.pins
    phone.pins = Pins(stranger, stranger, (pins.worker,), (pins.approval,))
    awake(phone)
    assert why(phone) == ["It was approved with a key that this phone does not know."]


def test_other_pins_come_from_hex(peer: Peer) -> None:
    pins = peer.pins
    also = {"approval": [pins.worker.hex()], "worker": [pins.approval.hex()]}
    found = Pins.of(approval=pins.approval.hex(), worker=pins.worker.hex(), also=also)
    assert found.approvals == (pins.approval, pins.worker)
    assert found.workers == (pins.worker, pins.approval)
    with pytest.raises(Problem, match="device_keys"):
        Pins.of(approval=pins.approval.hex(), worker=pins.worker.hex(), also={"worker": ["zz"]})
