"""Named places in the making of a release, for tests that kill the process there.

A test's own process hangs a function here before it starts to work; nothing in the program does,
and no setting or environment variable can, so in a running system every place is passed in
silence. The function is given the name of the place and nothing else: no number of a release
passes through here.
"""

from collections.abc import Callable
from typing import Final

# In the order in which they are passed.
PLACES: Final = (
    "due",  # before anything has happened
    "gathered",  # the sum is in memory, the window is closed for good
    "noised",  # the noised numbers are in memory
    "spent",  # in the transaction: the ledger is written …
    "settled",  # … partials and collector are …
    "stored",  # … the release is …
    "moved",  # … and all the rest, just before the commit
    "committed",  # the release is there, its files are not
    "written",  # the files are there under another name
    "signed",  # the manifest is committed
    "rendered",  # the files are in their place
)

hook: Callable[[str], None] | None = None


def passed(place: str) -> None:
    if hook is not None:
        hook(place)
