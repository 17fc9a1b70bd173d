"""A worker that crashes leaves no file with its memory."""

import subprocess
import sys

from tests.parts import ROOT

WORK = """
import resource
from celery.signals import worker_init
import portal.celery
worker_init.send(sender=None)
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_workers_leave_no_core_file():
    told = subprocess.run(
        [sys.executable, "-c", WORK], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "(0, 0)"
