"""Counts of what devices did: added up, kept by day and week, and forgotten in time."""

from datetime import date, timedelta

import pytest
from django.db import DatabaseError, connection
from django.template.loader import render_to_string

from aggregation.protocol.refusal import Reason
from portal.collection import fleet_counts, jobs
from portal.collection.fleet import fleet
from portal.collection.fleet_buckets import BYTES, MILLISECONDS, bucket, in_words, percentile
from portal.collection.fleet_counts import HASH, Span, Stage, add, field, keep_counts
from portal.collection.fleet_spans import Choice
from portal.collection.models import ActiveDevices, FleetCount
from portal.collection.reach import WindowReach, latest_reach, note_reach
from portal.tasks.models import Population
from portal.valkey import queue_client
from tests.portal.collection.collecting import MAX, gathered_sum

pytestmark = pytest.mark.databases

# A Monday; the clock of these tests stands at its noon.
TODAY = date(2026, 11, 16)
SUNDAY = TODAY - timedelta(days=1)
WINDOW = "2026-11-17"


@pytest.fixture
def counted(parts):
    def found(**among):
        rows = FleetCount.objects.filter(**among)
        return {(r.span, r.start, r.counter, r.population): r.count for r in rows}

    return found


def test_what_several_front_ends_counted_is_added_up(counted, clock):
    for count in (3, 4):
        queue_client().hincrby(HASH, field(TODAY, Stage.CHECKED_IN, "DE"), count)
    queue_client().hincrby(HASH, field(SUNDAY, Stage.CHECKED_IN, "DE"), 5)
    keep_counts(clock=clock)
    keep_counts(clock=clock)
    queue_client().hincrby(HASH, field(TODAY, Stage.CHECKED_IN, "DE"), 1)
    keep_counts(clock=clock)
    checked_in = Stage.CHECKED_IN.value
    assert counted() == {
        ("day", TODAY, checked_in, "DE"): 8,
        ("day", SUNDAY, checked_in, "DE"): 5,
        ("week", TODAY, checked_in, "DE"): 8,
        ("week", TODAY - timedelta(days=7), checked_in, "DE"): 5,
    }


def test_a_population_may_have_any_name(counted, clock):
    queue_client().hincrby(HASH, field(TODAY, Stage.ASSIGNED, "a|b"), 2)
    keep_counts(clock=clock)
    assert counted(span="day") == {("day", TODAY, "assigned", "a|b"): 2}


def test_old_days_stay_in_their_weeks_and_old_weeks_go(counted, clock):
    days = [TODAY - timedelta(days=n) for n in (27, 28, 7 * 52, 7 * 53)]
    add((day, Stage.UPLOADED, "", 1) for day in days)
    keep_counts(clock=clock)
    assert [start for _, start, *_ in counted(span=Span.DAY)] == days[:1]
    assert list(counted(span=Span.WEEK).values()) == [1, 2]


def test_while_the_database_is_away_nothing_is_taken_from_the_front_ends(counted, clock):
    queue_client().hincrby(HASH, field(TODAY, Stage.CHECKED_IN, "DE"), 3)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE collection_fleetcount RENAME TO elsewhere")
    with pytest.raises(DatabaseError):
        keep_counts(clock=clock)
    assert queue_client().hlen(HASH) == 1


def test_what_a_session_refused_is_counted_when_it_ends(collecting):
    session = collecting.start(*collecting.place())
    queue_client().rpush(f"mayfly:session:{session.pk}:updates", b"\0" * 8 + b"no seal")
    collecting.send(session, [WINDOW], MAX)
    collecting.until(session.pk, "flushed")
    collecting.join()
    keep_counts(clock=collecting.clock)
    row = FleetCount.objects.get(span="day", counter=fleet_counts.refused(Reason.CANNOT_OPEN))
    assert (row.count, row.population) == (1, "")


def test_without_valkey_what_was_refused_is_forgotten(clock, settings):
    settings.QUEUE_URL = "redis://127.0.0.1:1/0"
    queue_client.cache_clear()
    try:
        fleet_counts.note_refused({Reason.DUPLICATE: 1}, clock=clock)
    finally:
        settings.QUEUE_URL = settings.BROKER_URL
        queue_client.cache_clear()


def test_reach_is_noted_with_the_release(collecting):
    queue_client().incrby("mayfly:active:all", 2_345)
    jobs.count_fleet()
    session = collecting.start(*collecting.place())
    collecting.send(session, [WINDOW], MAX)
    collecting.until(session.pk, "flushed")
    collecting.go_to("2026-11-20T00:00:00")
    assert gathered_sum(collecting, WINDOW).contributions == MAX
    (found,) = latest_reach(10)
    assert (found.label, found.contributed, found.active) == (WINDOW, 0, 2_300)
    assert found.words == "< 43 %"


def test_a_task_for_all_reaches_every_population(collecting, clock):
    for name, count in (("all", 1_000), ("DE", 99_000)):
        population, _ = Population.objects.get_or_create(
            name=name, defaults={"created_at": clock.now()}
        )
        ActiveDevices.objects.create(population=population, count=count)
    note_reach(window=collecting.window(WINDOW), contributed=93_456)
    (found,) = latest_reach(10)
    assert (found.contributed, found.active, found.words) == (93_000, 100_000, "about 93 %")
    choice = Choice.of(Span.DAY, at=TODAY, population="", today=TODAY)
    page = render_to_string("collection/_fleet.html", {"fleet": fleet(choice, today=TODAY)})
    assert "about 93 %" in page
    assert f"/releases/trips-by-region/{WINDOW}" in page


@pytest.mark.parametrize(
    ("contributed", "active", "words"),
    [(93_000, 100_000, "about 93 %"), (0, 100_000, "< 1 %"), (0, 0, "not known")],
)
def test_reach_is_said_with_what_is_known(contributed, active, words):
    found = WindowReach("t", "2026-11-09", "2026-W46", "week", contributed, active)
    assert found.words == words


@pytest.mark.parametrize(
    ("size", "words"), [(0, "≤ 250 B"), (250, "≤ 250 B"), (251, "≤ 500 B"), (70_001, "> 70 kB")]
)
def test_sizes_have_buckets(size, words):
    assert in_words(bucket(size, BYTES), BYTES, ("B", "kB")) == words


def test_percentiles_come_from_buckets():
    counts = {bucket(ms, MILLISECONDS): n for ms, n in ((0.4, 50), (4, 45), (400, 5))}
    found = [percentile(counts, share) for share in (0.5, 0.95, 0.96)]
    assert [in_words(n, MILLISECONDS, ("ms", "s")) for n in found] == [
        "≤ 1 ms",
        "≤ 5 ms",
        "≤ 500 ms",
    ]
    assert percentile({}, 0.5) is None
