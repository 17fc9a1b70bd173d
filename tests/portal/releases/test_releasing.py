"""Releasing due windows: once each, everything in one transaction, whoever asks how often."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from aggregation.release.noised import Noised
from portal.audit.models import Entry
from portal.audit.verification import verify_log
from portal.collection import erasing
from portal.collection.keys import partial_keys
from portal.collection.models import Partial, Receipts, Session
from portal.ledger.models import Charge
from portal.notifications.models import Notification
from portal.problems import Conflict
from portal.releases import attempts, failpoints, running, selectors
from portal.releases.models import Attempt, Release
from portal.releases.services import release_window
from portal.releases.signing import is_card_signed, read_card
from tests.portal.collection.collecting import MAX

pytestmark = pytest.mark.databases

FIRST, SECOND = "2026-11-17", "2026-11-18"
DUE = "2026-11-20T00:00:00"
# ε = 0.1 on a grid of 2^20 per device: no draw is beyond 150 times the scale in any test.
FAR = 150 * 10 * 2**20


def charges(window: str) -> list[str]:
    return sorted(Charge.objects.filter(window=window).values_list("state", flat=True))


def test_it_works(collecting):
    big = collecting.start(*collecting.place())
    updates = collecting.send(big, [FIRST], MAX)
    collecting.until(big.pk, "flushed")
    small = collecting.start(*collecting.place())
    updates += collecting.send(small, [FIRST], 9)
    collecting.taken(small, 9)
    collecting.count(updates)
    collecting.go_to(DUE)
    assert charges(FIRST) == ["reserved"]
    running.release_due_windows(clock=collecting.clock)

    release = Release.objects.get()
    assert (release.window.window, release.window.state) == (FIRST, "released")
    noise = Noised.decode(bytes(release.noised)).sums - collecting.truth[FIRST]
    assert 0 < abs(noise).max() < FAR
    assert charges(FIRST) == ["spent"]
    assert Partial.objects.get().state == "merged"
    assert not Receipts.objects.exists()
    assert Session.objects.get(collects__window=FIRST).state == "flushed"
    assert Notification.objects.filter(event__kind="release.made").count() == 1
    assert Entry.objects.filter(action="release.made").count() == 1
    assert verify_log(whole=True).problem == ""

    card = read_card(release.card)
    assert is_card_signed(release.card, release.signature)
    assert (card.task, card.window, card.epsilon) == ("trips-by-region", FIRST, "0.1")
    assert card.noised == release.noised_sha256
    erasing.erase_partials(clock=collecting.clock)
    assert Partial.objects.get().state == "erased"
    assert partial_keys().names() == ()


def test_a_window_without_devices_is_released_like_any_other(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    noise = Noised.decode(bytes(Release.objects.get().noised)).sums
    assert noise.shape == (12, 1)
    assert noise.any()
    assert charges(FIRST) == ["spent"]


def test_a_second_release_is_refused(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    before = bytes(Release.objects.get().noised)
    running.release_due_windows(clock=collecting.clock)
    with pytest.raises(Conflict, match="not to be gathered"):
        release_window(window=collecting.window(FIRST), clock=collecting.clock)
    assert bytes(Release.objects.get().noised) == before


def test_it_is_not_released_before_its_grace_is_over(collecting):
    collecting.go_to("2026-11-19T23:59:59")
    assert selectors.next_due(collecting.clock.now()) is None
    running.release_due_windows(clock=collecting.clock)
    assert not Release.objects.exists()


def test_several_windows_are_released_in_one_go_longest_due_first(collecting):
    collecting.go_to("2026-11-22T00:00:00")
    running.release_due_windows(clock=collecting.clock)
    released = Release.objects.order_by("pk").values_list("window__window", flat=True)
    assert list(released) == ["2026-11-17", "2026-11-18", "2026-11-19"]


def test_five_jobs_at_once_make_one_release_each(collecting, parts):
    collecting.go_to("2026-11-21T00:00:00")
    together = threading.Barrier(5)

    def job() -> None:
        with parts():
            together.wait(timeout=60)
            running.release_due_windows(clock=collecting.clock)

    threads = [threading.Thread(target=job) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    running.release_due_windows(clock=collecting.clock)
    assert sorted(Release.objects.values_list("window__window", flat=True)) == [FIRST, SECOND]
    assert charges(FIRST) == charges(SECOND) == ["spent"]
    assert Entry.objects.filter(action="release.made").count() == 2


def test_nothing_is_left_of_an_attempt_that_fails(collecting, monkeypatch):
    session = collecting.start(*collecting.place())
    collecting.count(collecting.send(session, [FIRST], MAX))
    collecting.until(session.pk, "flushed")
    collecting.go_to(DUE)
    for place in failpoints.PLACES[1:7]:
        monkeypatch.setattr(failpoints, "hook", fail_at(place))
        running.release_due_windows(clock=collecting.clock)
        assert not Release.objects.exists(), place
        assert charges(FIRST) == ["reserved"], place
        assert Partial.objects.get().state == "stored", place
        assert collecting.window(FIRST).state == "releasing", place
        pauses_are_over()
    monkeypatch.setattr(failpoints, "hook", None)
    running.release_due_windows(clock=collecting.clock)
    noise = Noised.decode(bytes(Release.objects.get().noised)).sums - collecting.truth[FIRST]
    assert abs(noise).max() < FAR


def pauses_are_over():
    Attempt.objects.update(next_at=datetime.now(UTC))


def fail_at(place):
    def hook(name):
        if name == place:
            raise ZeroDivisionError

    return hook


def test_what_goes_wrong_is_logged_without_numbers(collecting, monkeypatch, caplog):
    collecting.go_to(DUE)
    monkeypatch.setattr(failpoints, "hook", fail_at("moved"))
    running.release_due_windows(clock=collecting.clock)
    assert "could not be released" in caplog.text
    assert "sums" not in caplog.text
    assert "array(" not in caplog.text


def test_a_collector_that_died_is_followed_by_another(collecting, monkeypatch):
    """The row is left in `releasing`; the next beat takes it up."""
    collecting.go_to(DUE)
    monkeypatch.setattr(failpoints, "hook", fail_at("noised"))
    running.release_due_windows(clock=collecting.clock)
    assert collecting.window(FIRST).state == "releasing"
    pauses_are_over()
    assert selectors.next_due(collecting.clock.now()).window == FIRST
    monkeypatch.setattr(failpoints, "hook", None)
    running.release_due_windows(clock=collecting.clock)
    assert collecting.window(FIRST).state == "released"


def test_what_keeps_failing_is_tried_less_and_less_often(collecting, monkeypatch, settings):
    settings.HEARTBEAT_SECONDS = 60
    collecting.go_to(DUE)
    monkeypatch.setattr(failpoints, "hook", fail_at("noised"))
    for times, minutes in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10)]:
        for _ in range(3):
            running.release_due_windows(clock=collecting.clock)
        # One collector died for it, not three.
        assert Session.objects.filter(collects__window=FIRST, state="dead").count() == times
        row = Attempt.objects.get()
        left = row.next_at - datetime.now(UTC)
        assert row.times == times
        assert timedelta(minutes=minutes - 1) < left <= timedelta(minutes=minutes)
        pauses_are_over()
    monkeypatch.setattr(failpoints, "hook", None)
    running.release_due_windows(clock=collecting.clock)
    assert collecting.window(FIRST).state == "released"
    assert not Attempt.objects.exists()


def test_no_pause_outlasts_the_keys_of_what_is_stored(collecting, monkeypatch, settings):
    """Civil time may be so quick that they die within a minute of machine time."""
    big = collecting.start(*collecting.place())
    collecting.count(collecting.send(big, [FIRST], MAX))
    collecting.until(big.pk, "flushed")
    settings.HEARTBEAT_SECONDS = 600
    collecting.go_to(DUE)
    half = (Partial.objects.get().expires_at - collecting.clock.now()) / 2
    assert half > timedelta(0)
    monkeypatch.setattr(failpoints, "hook", fail_at("noised"))
    running.release_due_windows(clock=collecting.clock)
    collecting.clock.advance(half - timedelta(seconds=1))
    assert selectors.next_due(collecting.clock.now()) is None
    collecting.clock.advance(timedelta(seconds=1))
    assert selectors.next_due(collecting.clock.now()).window == FIRST
    running.release_due_windows(clock=collecting.clock)
    attempt = Attempt.objects.get(window__window=FIRST)
    assert (attempt.times, attempt.try_by) == (2, collecting.clock.now() + half / 2)


def test_a_window_that_fails_keeps_no_other_waiting(collecting, monkeypatch, settings):
    settings.HEARTBEAT_SECONDS = 60
    collecting.go_to(DUE)
    monkeypatch.setattr(failpoints, "hook", fail_at("noised"))
    running.release_due_windows(clock=collecting.clock)
    monkeypatch.setattr(failpoints, "hook", None)
    collecting.go_to("2026-11-21T00:00:00")
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.get().window.window == SECOND


def test_an_attempt_whose_worker_died_counts(collecting, settings):
    settings.HEARTBEAT_SECONDS = 60
    collecting.go_to(DUE)
    window = collecting.window(FIRST)
    # And nothing is heard of it any more.
    assert attempts.begin(window=window, clock=collecting.clock)
    assert not attempts.begin(window=window, clock=collecting.clock)
    assert selectors.next_due(collecting.clock.now()) is None
    pauses_are_over()
    assert attempts.begin(window=window, clock=collecting.clock)
    assert Attempt.objects.get().times == 2


def test_more_than_two_are_not_released_at_a_time(collecting):
    from portal.collection import gathering

    collecting.go_to("2026-11-22T00:00:00")
    one, two, _ = selectors.due_windows(collecting.clock.now())
    with (
        gathering.gather(window=one, clock=collecting.clock),
        gathering.gather(window=two, clock=collecting.clock),
    ):
        running.release_due_windows(clock=collecting.clock)
        assert not Release.objects.exists()
    running.release_due_windows(clock=collecting.clock)
    assert Release.objects.count() == 3
