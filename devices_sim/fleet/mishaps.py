"""What goes wrong with single phones: clocks that are off, and phones that stop while they send."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

from aggregation.clock import Clock
from devices_sim.device.api_client import DeviceApi, Meter
from devices_sim.device.once_only import Answer


class ShiftedClock:
    """Civil time as a phone with a wrong clock has it."""

    def __init__(self, inner: Clock, seconds: float) -> None:
        self._inner, self._by = inner, timedelta(seconds=seconds)

    def now(self) -> datetime:
        return self._inner.now() + self._by


class PhoneStopped(BaseException):
    """Its power is gone: nothing that runs on it can notice."""


class StopsInUpload:
    """A device API during whose first upload the phone stops: the bytes may get there or not."""

    def __init__(self, inner: DeviceApi) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def upload(
        self, *, session: str, update: str, token: str, sealed: bytes, meter: Meter
    ) -> Answer:
        sending = asyncio.ensure_future(
            self._inner.upload(
                session=session, update=update, token=token, sealed=sealed, meter=meter
            )
        )
        await asyncio.sleep(0)
        sending.cancel()
        raise PhoneStopped
