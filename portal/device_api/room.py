"""Room for uploads in this process's memory: bodies under way and bodies waiting for Valkey."""


class Room:
    """So many bytes and no more, counted by declared lengths before anything is read."""

    __slots__ = ("_free",)

    def __init__(self, most: int) -> None:
        self._free = most

    def take(self, size: int) -> bool:
        """Whether there was room; if so, `give_back` has to follow."""
        if size > self._free:
            return False
        self._free -= size
        return True

    def give_back(self, size: int) -> None:
        self._free += size
