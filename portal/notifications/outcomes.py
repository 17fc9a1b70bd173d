"""How one attempt to deliver something ended."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sent:
    """The other side took it."""


@dataclass(frozen=True)
class NotSent:
    """It did not go out, or nobody said that it did."""

    # A short sentence for operators, without addresses or contents.
    reason: str
    # Nobody answered: the next one to the same place would wait just as long.
    unreachable: bool = False


Outcome = Sent | NotSent
