"""Windows that are due and not released: what they would be made of is not what was approved."""

import pytest
from django.db import connection, transaction

from portal.audit.models import Entry
from portal.collection.keys import partial_keys
from portal.collection.models import Session
from portal.ledger.models import Charge, Week
from portal.ledger.services import spend
from portal.notifications.models import Notification
from portal.releases import attempts, failpoints, running
from portal.releases.models import Release
from portal.tasks.models import TaskWindow

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"
DUE = "2026-11-20T00:00:00"


def test_an_untrusted_window_is_held_back_and_told_of_once(collecting, keys):
    collecting.go_to(DUE)
    kept = (keys / "approval-key").read_bytes()
    (keys / "approval-key").write_bytes(bytes(32))
    for _ in range(3):
        running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()
    assert collecting.window(FIRST).state == "grace"
    assert Entry.objects.filter(action="taskwindow.held_back").count() == 1
    assert Notification.objects.filter(event__kind="taskwindow.held_back").count() == 1
    # The key was only mislaid.
    (keys / "approval-key").write_bytes(kept)
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.get().window.window == FIRST


def test_a_window_that_could_not_be_signed_is_not_closed(collecting, settings, caplog):
    """Small sums would be given away, to an attempt that cannot use them."""
    collecting.go_to(DUE)
    partial_keys()  # the folder is there
    settings.DEMO = False
    running.release_due_windows(clock=collecting.clock)
    assert collecting.window(FIRST).state == "grace"
    assert not Session.objects.filter(collects__isnull=False).exists()
    assert "has no release-key" in caplog.text
    settings.DEMO = True  # which makes it
    attempts.forget(window=collecting.window(FIRST))
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.get().window.window == FIRST


def test_a_config_that_was_changed_behind_our_back_is_not_released(collecting):
    collecting.go_to(DUE)
    write_another_config(collecting.revision)
    running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()


def test_nor_is_one_that_is_changed_while_the_window_is_gathered(collecting, monkeypatch, caplog):
    """What it is noised by was read before, and was trusted."""
    collecting.go_to(DUE)

    def change(place):
        if place == "due":
            write_another_config(collecting.revision)

    monkeypatch.setattr(failpoints, "hook", change)
    running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()
    assert "changed while it was gathered" in caplog.text


def write_another_config(revision):
    bad = revision.server_config_json.replace('"0.1"', '"9.9"')
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = [row for row in cursor.fetchall() if "tasks_revision" in row[1]]
            for name, _ in triggers:
                cursor.execute(f'DROP TRIGGER "{name}"')
        else:
            cursor.execute("ALTER TABLE tasks_revision DISABLE TRIGGER USER")
        cursor.execute("UPDATE tasks_revision SET server_config_json = %s", [bad])


def test_a_window_that_is_not_charged_is_not_released(collecting, caplog):
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    with transaction.atomic():
        spend(task=window.task.name, windows=[window.as_window()], clock=collecting.clock)
    running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()
    assert TaskWindow.objects.get(pk=window.pk).state == "releasing"


def test_a_window_that_is_charged_too_much_is_not_released_either(collecting):
    """Its card would say another price than its ledger."""
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    week = Week.objects.create(stream="another", monday="2026-11-16", cap=100)
    Charge.objects.create(week=week, task=window.task.name, window=FIRST, amount=1)
    running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()
    charges = Charge.objects.filter(window=FIRST)
    assert [charge.state for charge in charges] == ["reserved", "reserved"]
