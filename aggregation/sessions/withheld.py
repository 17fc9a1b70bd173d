"""What no log, result back end or cache may hold: sums without noise, and what opens updates."""

from __future__ import annotations

from typing import NoReturn


class Withheld:
    """Prints nothing of itself, and is neither pickled nor copied: it lives in one memory."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(contents withheld)"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"A {type(self).__name__} is not pickled or copied: it stays in memory.")
