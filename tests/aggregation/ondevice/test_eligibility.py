"""Eligibility is decided on the device, over device_facts and nothing else."""

import msgspec
import pytest

from aggregation.ondevice.eligibility import Eligible, NotEligible, decide
from aggregation.protocol.client_task import Eligibility
from aggregation.protocol.device_facts import DeviceFacts

FACTS = DeviceFacts(
    windows_waiting=1,
    events_waiting=1,
    windows_since_contribution=2,
    runtime_version=1,
    install_age_days=30,
)


def decided(sql: str | None = None, *, separation: int = 1, events: bool = True, **facts: object):
    criteria = Eligibility(min_separation_windows=separation, require_events=events, sql=sql)
    return decide(criteria, msgspec.structs.replace(FACTS, **facts))


def test_it_works() -> None:
    assert decided() == Eligible()


def test_it_waits_for_a_complete_window() -> None:
    assert decided(windows_waiting=0) == NotEligible("No complete window is waiting.")


def test_it_keeps_windows_apart() -> None:
    assert isinstance(decided(separation=3), NotEligible)
    assert decided(separation=2) == Eligible()
    assert decided(separation=3, windows_since_contribution=None) == Eligible()


def test_it_can_require_events() -> None:
    assert isinstance(decided(events_waiting=0), NotEligible)
    assert decided(events_waiting=0, events=False) == Eligible()


YES = [
    "SELECT install_age_days >= 7 FROM device_facts",
    "SELECT 1 FROM device_facts WHERE runtime_version >= 1",
    "SELECT CASE WHEN windows_since_contribution IS NULL THEN 1 ELSE 0.5 END FROM device_facts",
]
NO = [
    "SELECT install_age_days > 30 FROM device_facts",
    "SELECT 1 FROM device_facts WHERE runtime_version > 1",
    "SELECT NULL FROM device_facts",
    "SELECT 'yes' FROM device_facts",
    "SELECT 1, 1 FROM device_facts",
    "SELECT 1 FROM device_facts UNION ALL SELECT 1 FROM device_facts",
    "SELECT COUNT(*) FROM trips",
    "SELECT COUNT(*) + 1 FROM sqlite_master",
    "SELECT random() FROM device_facts",
    "DELETE FROM device_facts RETURNING 1",
    "nonsense",
]


@pytest.mark.parametrize("sql", YES)
def test_its_own_condition_can_say_yes(sql: str) -> None:
    assert decided(sql) == Eligible()


@pytest.mark.parametrize("sql", NO)
def test_everything_else_is_a_no(sql: str) -> None:
    assert isinstance(decided(sql), NotEligible)
