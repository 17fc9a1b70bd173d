"""The ledger: double counts and losses are told apart, whoever is to blame."""

from collections import Counter

from devices_sim.device.once_only import Settle
from devices_sim.simulation.ledger import Ledger, Verdict, Word, counted_ids, verdict

KEY = ("weekly-trips", "2026-11-09")
OTHER = ("weekly-trips", "2026-11-16")


def ids(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "big") for number in numbers)


def found(*counted: int) -> Verdict:
    """Phones 0 and 1 sent one update each, phone 2 two."""
    ledger = Ledger()
    for phone, update in ((0, 10), (1, 11), (2, 12), (2, 13)):
        ledger.note(KEY, phone=phone, update=f"{update:016x}", hours=1.0)
    ledger.note(OTHER, phone=0, update=f"{14:016x}", hours=1.0)
    return verdict(ledger.of(KEY), ids(*counted), phones=4)


def test_it_works() -> None:
    all_once = found(10, 11, 13)
    assert (all_once.sent, all_once.phones, all_once.counted) == (4, 3, 3)
    assert (all_once.double, all_once.lost, all_once.strange) == (0, 0, 0)
    assert all_once.contributed.tolist() == [True, True, True, False]


def test_two_updates_of_one_phone_are_a_double_count() -> None:
    assert found(10, 11, 12, 13).double == 1


def test_one_update_counted_twice_is_a_double_count() -> None:
    twice = found(10, 10, 11, 12)
    assert (twice.double, twice.lost) == (1, 0)


def test_a_loss_does_not_hide_a_double_count() -> None:
    both = found(11, 12, 13)
    assert (both.double, both.lost) == (1, 1)


def test_what_no_phone_sent_is_strange() -> None:
    assert found(10, 11, 12, 99).strange == 1


def test_nothing_sent_nothing_counted() -> None:
    none = verdict(Ledger().of(KEY), b"", phones=4)
    assert (none.sent, none.counted, none.double, none.lost) == (0, 0, 0, 0)


def test_the_last_word_of_what_is_lost_is_told() -> None:
    """Phone 0 was told that it counts, and does not; 1 sent again, and heard nothing more."""
    ledger = Ledger()
    for phone in range(4):
        ledger.note(KEY, phone=phone, update=f"{10 + phone:x}", hours=1.0)
    ledger.heard(KEY[0], Settle(counted=(KEY[1],)), phone=0)
    ledger.heard(KEY[0], Settle(again=(KEY[1],)), phone=1)
    ledger.note(KEY, phone=1, update="1b", hours=2.0)
    ledger.heard(KEY[0], Settle(again=(KEY[1],), given_up=(OTHER[1],)), phone=2)
    ledger.heard(KEY[0], Settle(counted=(KEY[1],)), phone=3)
    found = verdict(ledger.of(KEY), ids(13), phones=5)
    assert (found.sent, found.phones, found.lost, found.forgotten) == (5, 4, 3, 1)
    assert found.last_words == Counter({Word.COUNTED: 1, Word.SENT: 1, Word.AGAIN: 1})


def test_who_was_told_once_and_sends_again_is_still_forgotten() -> None:
    ledger = Ledger()
    ledger.note(KEY, phone=0, update="0a", hours=1.0)
    ledger.heard(KEY[0], Settle(counted=(KEY[1],)), phone=0)
    ledger.note(KEY, phone=0, update="0b", hours=2.0)
    assert verdict(ledger.of(KEY), b"", phones=1).forgotten == 1


def test_it_has_room_for_more_windows_than_any_simulation() -> None:
    ledger = Ledger()
    for number in range(300):
        ledger.note(("task", str(number)), phone=number, update=f"{number:x}", hours=1.0)
    assert ledger.of(("task", "255")).phone.tolist() == [255]
    assert ledger.of(("task", "299")).phone.tolist() == [299]
    assert ledger.of(KEY).phone.tolist() == []


def test_ledgers_of_several_processes_are_one() -> None:
    whole, first, second = Ledger(), Ledger(), Ledger()
    first.note(KEY, phone=0, update="0a", hours=1.0)
    second.note(OTHER, phone=1, update="0b", hours=2.0)
    second.note(KEY, phone=1, update="0c", hours=3.0)
    whole.add(first)
    second.heard(KEY[0], Settle(counted=(KEY[1],)), phone=1)
    whole.add(second)
    assert whole.of(KEY).phone.tolist() == [0, 1]
    assert whole.of(OTHER).update.tolist() == [11]
    assert whole.of(KEY).hours.tolist() == [1.0, 3.0]
    assert whole.of(KEY).words.word.tolist() == [Word.SENT, Word.SENT, Word.COUNTED]


def test_exact_counts_are_read_by_task_and_window() -> None:
    told = {"weekly-trips": {"2026-11-09": "000000000000000a"}}
    assert counted_ids(told, KEY) == ids(10)
    assert counted_ids(told, OTHER) == b""
