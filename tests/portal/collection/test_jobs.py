"""The heartbeat's questions: what keeps them from their work, and what does not."""

from __future__ import annotations

import errno
import os
from typing import Any

from portal import heartbeats
from portal.celery import app
from portal.collection import jobs
from portal.collection.models import Session
from portal.valkey import broker_client
from tests.portal.collection.collecting import Collecting


def test_sessions_are_placed_while_the_key_folder_takes_nothing(
    collecting: Collecting, monkeypatch: Any, caplog: Any
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jobs, "civil_clock", lambda: collecting.clock)
    monkeypatch.setattr(os, "fsync", full)
    heartbeats.beat("sessions@one")
    app.set_current()
    try:
        jobs.place_sessions.apply(throw=True)
    finally:
        broker_client().delete("sessions")
    assert Session.objects.filter(state="opening").count() == 1
    assert "witness.json cannot be written (No space left on device)" in caplog.text
