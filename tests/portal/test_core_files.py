"""A worker that crashes leaves no file with its memory."""

import subprocess
import sys

from tests.parts import ROOT

WORK = """
import ctypes, resource
from celery.signals import worker_init
import portal.celery
worker_init.send(sender=None)
print(resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_workers_leave_no_core_file():
    """Nor do they where core files are piped to a program, which asks for no limit."""
    told = subprocess.run(
        [sys.executable, "-c", WORK], cwd=ROOT, capture_output=True, text=True, check=True
    )
    is_dumpable = 0 if sys.platform == "linux" else -1
    assert told.stdout.strip() == f"(0, 0) {is_dumpable}"
