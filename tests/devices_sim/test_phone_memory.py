"""What a phone remembers: full and damaged storage, restarts, reinstalls, clocks set wrong."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from aggregation.clock import ManualClock
from devices_sim.device.conditions import Conditions
from devices_sim.device.storage import FileStorage, MemoryStorage
from tests.aggregation.ondevice.examples import WEEK, trip
from tests.devices_sim.conftest import MakePhone
from tests.devices_sim.peer import Peer
from tests.devices_sim.waking import SOON, after_the_week, awake


class FullDisk(MemoryStorage):
    full = False

    def save(self, blob: bytes) -> None:
        if self.full:
            raise OSError("No space left on device")
        super().save(blob)


def test_what_cannot_be_saved_is_not_sent(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    disk = FullDisk()
    phone = make_phone(disk)
    phone.set_consent("trips", True)
    after_the_week(phone, clock)
    disk.full = True
    did = awake(phone)
    assert did.stopped == "Nothing can be stored on this phone, so nothing is sent."
    assert (did.sent, peer.arrived) == ([], [])
    disk.full = False
    assert len(awake(phone).sent) == 1


def test_damaged_storage_is_a_new_install(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    phone = after_the_week(make_phone(), clock)
    phone.storage.save(b"\x93\x01damaged")
    again = make_phone(phone.storage)
    assert again.load().consents == {}
    assert again.log[0].what == "What was stored could not be read; started anew."


def test_a_reinstalled_phone_leaves_windows_of_the_time_before_alone(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    awake(after_the_week(make_phone(), clock))
    peer.flush_all()
    clock.set(WEEK.end)
    again = make_phone()
    again.record("trips", trip(after=timedelta(days=7, hours=1)), trip())
    clock.advance(SOON)
    assert awake(again).sent == []
    clock.set(WEEK.next().end)
    assert [sent.windows for sent in awake(again).sent] == [("2026-11-16",)]


def test_a_phone_with_a_file_goes_on_after_a_restart(
    make_phone: MakePhone, peer: Peer, clock: ManualClock, tmp_path: Path
) -> None:
    first = make_phone(FileStorage(tmp_path / "phone"))
    first.set_consent("trips", True)
    awake(after_the_week(first, clock))
    peer.flush_all()
    again = make_phone(FileStorage(tmp_path / "phone"))
    assert awake(again).counted == 1
    assert [str(line) for line in again.log][:2] == [
        "2026-11-09 00:00 Started for the first time.",
        "2026-11-09 00:00 You agreed to trips.",
    ]


def test_a_clock_set_back_reopens_nothing(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    own = ManualClock(WEEK.start)
    phone = make_phone(clock=own)
    phone.record("trips", trip())
    clock.set(WEEK.end + SOON)
    assert awake(phone).sent == []  # by its own clock the week has just begun
    own.set(WEEK.end + SOON)
    assert len(awake(phone).sent) == 1
    peer.flush_all()
    for moment in (WEEK.start, WEEK.end - SOON, WEEK.end, WEEK.end + timedelta(days=6)):
        own.set(moment)
        assert awake(phone).sent == []
    assert peer.cells("weekly-trips", WEEK.id) == {12: 1}


def test_a_clock_set_forward_sends_nothing_early(
    make_phone: MakePhone, peer: Peer, clock: ManualClock
) -> None:
    own = ManualClock(WEEK.start)
    phone = make_phone(clock=own)
    phone.record("trips", trip())
    own.set(WEEK.end + timedelta(days=20))
    clock.advance(timedelta(days=2))
    assert awake(phone).sent == []  # the server lists only what has ended by its clock
    own.set(WEEK.end + SOON)
    clock.set(WEEK.end + SOON)
    assert len(awake(phone).sent) == 1


def test_what_apps_report_at_a_wake_up_is_kept_whatever_becomes_of_it(
    make_phone: MakePhone,
) -> None:
    storage = MemoryStorage()
    phone = make_phone(storage)
    phone.set_consent("trips", True)
    reported = {"trips": [trip(), trip(region="9999")]}
    did = asyncio.run(phone.wake_up(Conditions(network=False), events=reported))
    assert (did.stopped, did.kept) == ("There is no network.", 1)
    assert make_phone(storage=storage).load().events == {"trips": [trip()]}
