"""Whether this worker is stopping. One byte of memory shared with the children of the worker.

The signal that a worker shuts down reaches its main process only; sessions run in threads of it,
or in children forked from it. Set in a signal handler, so it takes no lock and waits for nobody.
"""

import ctypes
import multiprocessing

_draining = multiprocessing.RawValue(ctypes.c_bool, False)


def start() -> None:
    _draining.value = True


def is_draining() -> bool:
    return bool(_draining.value)
