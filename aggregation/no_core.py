"""For processes that hold keys, updates and sums: should one crash, its memory goes to no file."""

import ctypes
import resource
import sys

_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of <linux/prctl.h>


def leave_no_core() -> None:
    """From here on, and in every process that is forked from this one.

    The limit alone is not enough on a Linux that pipes core files to a program: it is not asked
    then. What is not dumpable leaves none either way, and is read by no debugger of this user.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
