"""What operators see of sessions: everything, and every count of updates coarse."""

import dataclasses
import logging
import re
from datetime import UTC, datetime

import pytest

from aggregation.protocol.refusal import Reason
from portal import heartbeats
from portal.collection import at_rest, placing
from portal.collection.coarse import coarse, coarse_number
from portal.collection.models import Session
from portal.collection.overview import overview
from portal.pages.overview import of_work
from portal.pages.overview.finding import Seen
from portal.valkey import queue_client
from tests.portal.collection.collecting import MIN
from tests.portal.collection.test_handing_over import drain
from tests.portal.collection.test_merging import flush_one
from tests.portal.collection.test_placing import speak

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"


def seen(collecting):
    return overview(now=collecting.clock.now())


@pytest.mark.parametrize(
    ("count", "words", "number"),
    [
        (0, "< 1000", 0),
        (999, "< 1000", 0),
        (1000, "1,000", 1000),
        (1049, "1,000", 1000),
        (1050, "1,100", 1100),
        (9_999, "10,000", 10_000),
        (1_234_567, "1,200,000", 1_200_000),
    ],
)
def test_counts_are_coarse(count, words, number):
    assert (coarse(count), coarse_number(count)) == (words, number)


def test_sessions_are_shown_by_worker(collecting):
    heartbeats.beat("sessions@one")
    row = collecting.by_hand([FIRST], 0).row
    Session.objects.filter(pk=row.pk).update(worker="sessions@one")
    speak(
        row, contributions=123_456, load=0.5, arriving=33.4, accepting=30.0, most=400_000,
        counts={"duplicate": 4_321, "cannot_open": 7},
    )  # fmt: skip
    found = seen(collecting)
    (worker,) = found.workers
    (line,) = worker.lines
    assert (worker.name, worker.alive, line.row.pk) == ("sessions@one", True, row.pk)
    assert (str(line.accepted), line.percent, str(line.queued)) == ("120,000", 30, "< 1000")
    assert (str(found.arriving), str(found.accepting)) == ("2,000", "1,800")
    assert [(one.reason, str(one.count)) for one in found.refused_often] == [
        (Reason.DUPLICATE, "4,300")
    ]
    assert len(found.refused) == len(Reason)
    assert found.taken == 1
    assert found.reached


def test_no_exact_count_is_in_it(collecting):
    """Whatever is added to the overview later: the numbers of a status are not."""
    row = collecting.by_hand([FIRST], 0).row
    speak(
        row, contributions=123_457, arriving=543.21, accepting=543.21, counts={"duplicate": 98_765}
    )
    text = repr(dataclasses.asdict(seen(collecting)))
    for exact in ("123457", "543.21", "98765", str(int(60 * 543.21))):
        assert not re.search(rf"(?<![0-9]){re.escape(exact)}(?![0-9])", text)


def test_partials_are_shown_by_level_with_their_time_to_live(collecting):
    flush_one(collecting)
    (level,) = seen(collecting).levels
    assert (level.level, level.stored, level.merged) == (1, 1, 0)
    assert (level.left_words, level.percent) == ("3 d 0 h", 100)
    collecting.go_to("2026-11-19T13:30:00")
    (level,) = seen(collecting).levels
    assert (level.left_words, level.percent) == ("1 d 10 h", 48)


def test_lost_sessions_and_waiting_revisions_are_shown(collecting, settings):
    row = collecting.by_hand([FIRST], MIN).row
    assert placing.bury(row, Session.Reason.LOST, clock=collecting.clock)
    found = seen(collecting)
    assert ([one.pk for one in found.lost], found.lost_count) == ([row.pk], 1)
    settings.SESSION_SLOTS = 1
    for name in ("a", "b"):
        collecting.clock.set(collecting.revision.approved_at)
        collecting.activate(f"task-{name}")
    collecting.go_to("2026-11-18T00:00:00")
    heartbeats.beat("sessions@one")
    placing.place_sessions(clock=collecting.clock)
    assert len(seen(collecting).waiting) == 2
    assert seen(collecting).slots == 1


def test_those_that_a_stopped_worker_left_are_told_apart_from_those_that_died(collecting):
    left, died = (collecting.by_hand([FIRST], MIN).row for _ in range(2))
    placing.bury(left, Session.Reason.NO_SUCCESSOR, clock=collecting.clock)
    now = Seen(datetime.now(UTC), collecting.clock)
    assert (now.sessions.lost_count, now.sessions.left_count) == (1, 1)
    assert not list(of_work.lost_sessions(now))
    (found,) = of_work.left_sessions(now)
    assert found.title == "1 session ended when its worker was stopped, within the last day"
    assert found.since == left.ended_at
    placing.bury(died, Session.Reason.FAULT, clock=collecting.clock)
    now = Seen(datetime.now(UTC), collecting.clock)
    (found,) = of_work.lost_sessions(now)
    assert (found.title, found.since) == ("1 session died within the last day", died.ended_at)
    assert len(list(of_work.left_sessions(now))) == 1


@pytest.mark.parametrize("devices", [0, 7, MIN])
def test_of_a_worker_that_is_stopped_nobody_is_warned(collecting, caplog, devices):
    session = collecting.start(*collecting.place())
    if devices:
        collecting.send(session, [FIRST], devices)
        collecting.taken(session, devices)
    drain(collecting, "one")
    collecting.until(session.pk, "dead" if devices else "flushed")
    collecting.join()
    assert [one.message for one in caplog.records if one.levelno >= logging.WARNING] == []


def test_without_valkey_it_says_so(collecting, settings):
    from portal import valkey

    collecting.by_hand([FIRST], 0)
    settings.QUEUE_URL = "redis://127.0.0.1:1/0"
    valkey.queue_client.cache_clear()
    try:
        found = seen(collecting)
    finally:
        settings.QUEUE_URL = settings.BROKER_URL
        valkey.queue_client.cache_clear()
    assert not found.reached
    assert found.taken == 1
    assert not found.at_rest_is_none


def test_no_update_is_at_rest(collecting):
    assert [check.ok for check in at_rest.checks()] == [True] * 3
    assert set(at_rest.binary_columns()) == at_rest.BINARY_COLUMNS.keys()


def test_a_queue_that_writes_to_a_disk_is_found(collecting):
    queue_client().config_set("save", "3600 1")
    try:
        (memory, _, _) = at_rest.checks()
        assert not memory.ok
        assert not seen(collecting).at_rest_is_none
    finally:
        queue_client().config_set("save", "")


def test_a_place_for_bytes_that_nobody_described_is_found(collecting):
    from django.db import connection

    kind = "bytea" if connection.vendor == "postgresql" else "blob"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE spool (body {kind})")
    check = at_rest.checks()[-1]
    assert not check.ok
    assert "spool.body" in check.detail
