"""`device_facts`: the one row an eligibility query may read. It says nothing about any event."""

from __future__ import annotations

from typing import Final

import msgspec

TABLE: Final = "device_facts"


class DeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a device knows about its own readiness for one task, made anew at each check-in."""

    # Complete windows of the task that this device has not processed yet.
    windows_waiting: int
    # 1 when any event lies in those windows, else 0: never how many.
    events_waiting: int
    # Windows since the last one this device contributed to; nothing if it never did.
    windows_since_contribution: int | None
    runtime_version: int
    install_age_days: int


COLUMNS: Final[tuple[str, ...]] = DeviceFacts.__struct_fields__
