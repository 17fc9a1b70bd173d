"""Parts that are away, and for how long: devices are sent off for about as long."""

import time


class Away(Exception):
    """A part that is needed did not answer. What was asked of it may or may not be done."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what)
        self.what = what
        # Machine seconds since it was first missed.
        self.seconds = seconds


class Outage:
    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began: float | None = None

    def goes_on(self) -> float:
        """Note a failure; machine seconds since the first one."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
        return now - self._began

    def is_over(self) -> bool:
        """Note a success; whether it ends an outage."""
        ended, self._began = self._began is not None, None
        return ended
