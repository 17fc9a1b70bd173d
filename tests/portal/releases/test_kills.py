"""SIGKILL at every place in the making of a release: one output, one debit, whoever dies when.

On SQLite and on PostgreSQL. Everyday one kill per place; in full at least 100 windows, two workers
at a time, kills at every place again and again.
"""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.db import connection

from aggregation.release.noised import Noised
from portal.audit.models import Entry
from portal.audit.services import move
from portal.audit.verification import verify_log
from portal.collection.flushing import flush
from portal.collection.leaving import make_ready
from portal.collection.models import Partial, Receipts, Session
from portal.ledger.models import Charge
from portal.releases import failpoints, rendering
from portal.releases.models import Release, Rendering
from portal.releases.selectors import due_windows, whole_release
from portal.releases.verification import checks_of
from portal.tasks.models import TaskWindow
from tests.parts import ROOT
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import MIN, REGIONS, Collecting

pytestmark = pytest.mark.databases

HOURLY = module.SPEC.replace("unit: day", "unit: hour").replace("epsilon: 0.1", "epsilon: 0.01")


@pytest.fixture
def hours(parts, clock, size, monkeypatch) -> Collecting:
    """An hourly task with as many due windows as the size of the run asks for."""
    monkeypatch.setattr(module, "SPEC", HOURLY)
    made = Collecting(clock, parts)
    made.activate("hourly", grace=1)
    count = 110 if size == "full" else len(failpoints.PLACES) + 1
    made.go_to((clock.now() + timedelta(hours=count)).replace(tzinfo=None).isoformat())
    _fill(made)
    made.go_to((clock.now() + timedelta(hours=2)).replace(tzinfo=None).isoformat())
    return made


def _fill(hours: Collecting) -> None:
    """The window in its grace has a stored partial, of less than three days before its release;
    those before it are released without devices."""
    window = TaskWindow.objects.filter(state="grace").latest("start").window
    run = hours.by_hand([window], MIN)
    hours.count(list(hours.sent))
    assert move(run.row, to=Session.State.COMPLETING, clock=hours.clock)
    leaving = make_ready(
        session=run.row,
        summing=run.summing,
        open_windows=list(run.windows),
        handing_over=[],
        clock=hours.clock,
    )
    flush(session=run.row, leaving=leaving, takers={}, clock=hours.clock)


def kill(hours: Collecting, keys: Path, rounds: list[str]) -> None:
    """Workers that die, round by round, then two that do what is left (see `killing`)."""
    database = str(connection.settings_dict["NAME"])
    command = [sys.executable, "-m", "tests.portal.releases.killing", database]
    command += [str(django_settings.DATA), str(keys)]
    command += [hours.clock.now().replace(tzinfo=None).isoformat(), *rounds]
    subprocess.run(command, cwd=ROOT, env=os.environ.copy(), check=True, timeout=1800)


def test_every_window_has_one_output_and_one_debit(hours, keys, size, record_property):
    before = list(due_windows(hours.clock.now()))
    assert len(before) >= (100 if size == "full" else len(failpoints.PLACES))
    times, at_once = (4, 2) if size == "full" else (1, 1)
    places = failpoints.PLACES
    rounds = [
        "+".join(places[(number + i * times) % len(places)] for i in range(at_once))
        for number in range(times * len(places))
    ]
    record_property("fault", "killed at every place of a release")
    record_property("kills", len(rounds) * at_once)
    kill(hours, keys, rounds)
    _look_back(hours, before)


def _look_back(hours: Collecting, windows: list[TaskWindow]) -> None:
    assert Release.objects.count() == Rendering.objects.count() == len(windows)
    for window in windows:
        release = whole_release(window.release.pk)
        expected = hours.truth.get(window.window, np.zeros((REGIONS, 1), dtype=np.int64))
        assert (Noised.decode(bytes(release.noised)).sums == expected).all(), window
        assert all(check.holds for check in checks_of(release)), window
        assert list(Charge.objects.filter(window=window.window).values_list("state")) == [
            ("spent",)
        ]
        assert not list(rendering.folder_of(release).glob("*.new"))
    made = Entry.objects.filter(action="release.made")
    assert made.count() == made.values("object_id").distinct().count() == len(windows)
    assert not TaskWindow.objects.filter(state="releasing").exists()
    assert Partial.objects.get().state == "merged"
    assert not Receipts.objects.exists()
    assert not Session.objects.filter(state__in=Session.ALIVE).exists()
    assert verify_log(whole=True).problem == ""
