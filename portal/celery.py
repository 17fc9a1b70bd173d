"""Celery: the heartbeat. The database says what is due; jobs only ask it often."""

import gc
import os
import signal
import threading
import warnings
from types import FrameType
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_ready, worker_shutting_down
from kombu.transport import redis

from aggregation.no_core import leave_no_core

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

# A worker serves no pages. Celery would load all of them to check them, at two seconds of a
# processor, and not even say what it found: `manage.py check` does.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# Messages are JSON, never pickles: what Celery warns root of cannot happen.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")


class _Unacknowledged(redis.QoS):
    """Messages that are given back when their connection closes.

    Celery closes a connection twice when its broker is gone, and the second time there is nobody
    left to give them to: that error would end the worker, and every session that it has.
    """

    def restore_unacked(self, client: Any = None) -> None:
        if self.channel.connection.client is not None:
            super().restore_unacked(client)


redis.Channel.QoS = _Unacknowledged

app = Celery("mayfly")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")

from portal import observing_jobs  # noqa: E402, F401 - it listens to what jobs say


@setup_logging.connect
def _log_as_the_settings_say(**_: object) -> None:
    """Connecting to this signal keeps Celery from putting its own handlers in place."""


@worker_init.connect
def _leave_no_core(**_: object) -> None:
    leave_no_core()


@worker_init.connect
def _share_what_is_loaded(**_: object) -> None:
    """Children are copies of this process. A collector of garbage writes beside everything that it
    looks at, so they would soon have copies of all code of their own: 43 MB each instead of 11."""
    gc.freeze()


@worker_ready.connect
def _hear_the_first_signal_only(**_: object) -> None:
    """Celery's handler takes locks, so one that interrupts itself waits for itself for ever. Told
    once is enough: the kernel tells a worker as often as its supervisor, if killed, had threads."""
    handler = signal.getsignal(signal.SIGTERM)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        return

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        handler(number, frame)

    signal.signal(signal.SIGTERM, first)


@worker_ready.connect
def _start_heartbeat(sender: object, **_: object) -> None:
    from portal import heartbeats

    heartbeats.start_worker_heartbeat(str(getattr(sender, "hostname", "worker")))


@worker_shutting_down.connect
def _stop_heartbeat(**_: object) -> None:
    from portal import heartbeats
    from portal.collection import draining

    draining.start()
    heartbeats.stop_worker_heartbeat()
