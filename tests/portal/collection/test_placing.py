"""The controller on a real database and Valkey: more sessions, fewer, none free, one stuck."""

import json
import logging
import threading

import pytest
from django.db import DatabaseError, transaction

from portal.accounts.models import Person
from portal.audit.services import record
from portal.collection import arrivals, live
from portal.collection.models import Partial, Session
from portal.collection.placing import FINDINGS
from portal.collection.said import Status, said
from portal.collection.snapshot import snapshot
from portal.tasks import services
from portal.tasks.models import Revision
from portal.valkey import queue_client
from tests.databases import is_anyone_waiting
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, MIN, gathered_sum
from tests.portal.tasks.conftest import PASSWORD

pytestmark = pytest.mark.databases

FIRST = "2026-11-17"


def told(collecting):
    (task,) = snapshot(clock=collecting.clock)["tasks"]
    return {one["id"]: one["load"] for one in task["sessions"]}


def speak(session, **said_now):
    """As if the session had said so; nobody runs it."""
    status = {"contributions": 0, "queue": 0, "counts": {}, "load": 0.0, "most": MAX}
    live.beat(session.pk, {**status, **said_now})


def test_several_sessions_serve_a_revision_when_many_arrive(collecting):
    busy = collecting.by_hand([FIRST], 0).row
    speak(busy, load=0.5, arriving=1_200.0)
    placed = collecting.place()
    assert len(placed) >= 2
    assert collecting.place() == []
    others = [collecting.start(one) for one in placed]

    def all_are_told():
        speak(busy, load=0.5, arriving=1_200.0)
        found = told(collecting)
        return found if {busy.pk, *placed} <= found.keys() else None

    found = eventually(all_are_told)
    # Devices go to those with room.
    assert found == {busy.pk: 0.5} | {one.pk: 0 for one in others}


def test_slots_are_respected_and_waiting_is_said_once(collecting, settings, caplog):
    settings.SESSION_SLOTS = 1
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("second")
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("third")
    collecting.go_to("2026-11-18T00:00:00")
    with caplog.at_level(logging.WARNING):
        assert len(collecting.place()) == 2
        assert collecting.place() == []
        assert collecting.place() == []
    assert caplog.text.count("No slot is free for third") == 1
    found = json.loads(queue_client().get(FINDINGS))
    assert found == {"slots": 2, "taken": 2, "waiting": ["third revision 1"]}


def test_when_it_stays_calm_one_ends_and_nothing_is_lost(collecting, monkeypatch):
    monkeypatch.setattr(arrivals, "CALM_SECONDS", 0.0)
    one, two = (collecting.opened() for _ in range(2))
    ids = collecting.send(one, [FIRST], 7) + collecting.send(two, [FIRST], MIN)
    collecting.taken(one, 7)
    collecting.taken(two, MIN)
    # Once what arrived a moment ago has faded.
    queue_client().flushdb()
    eventually(lambda: len(told(collecting)) == 2)
    ended = eventually(lambda: retired(collecting))
    assert ended.reason == "quiet"
    row = collecting.until(ended.pk, "flushed")
    assert row.pk == two.pk
    assert Partial.objects.get().session_id == two.pk
    collecting.count(ids)
    collecting.go_to("2026-11-20T00:00:00")
    report = gathered_sum(collecting, FIRST)
    assert (report.sums == collecting.truth[FIRST]).all()
    assert report.contributions == MIN + 7


def retired(collecting):
    assert collecting.place() == []
    return Session.objects.filter(reason="quiet").first()


def test_a_revision_without_a_session_gets_the_place_of_one_of_several(collecting, settings):
    settings.SESSION_SLOTS = 1
    one, two = (collecting.opened() for _ in range(2))
    eventually(lambda: len(said([one.pk, two.pk])) == 2)
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("another")
    collecting.go_to("2026-11-18T00:00:00")

    def placed():
        return collecting.place()

    (session_id,) = eventually(placed)
    assert Session.objects.get(pk=session_id).revision == collecting.revision
    assert Session.objects.filter(reason="quiet", state="flushed").count() == 1


def test_no_device_is_sent_to_a_stuck_session_and_it_gets_company(collecting, settings):
    settings.SESSION_LAPSE_SECONDS = 30
    stuck = collecting.by_hand([FIRST], 0).row
    speak(stuck)
    assert list(told(collecting)) == [stuck.pk]
    assert collecting.place() == []
    # Its last word is older than it should be, though its time is not over.
    for what in ("status", "alive"):
        queue_client().pexpire(live.key(stuck.pk, what), 20_000)
    assert said([stuck.pk])[stuck.pk].is_stuck
    assert told(collecting) == {}
    (company,) = collecting.place()
    assert company != stuck.pk
    # It speaks again, and is one of two.
    speak(stuck)
    assert list(told(collecting)) == [stuck.pk]


def test_what_waits_in_its_queue_is_part_of_a_session_s_load(collecting):
    session = collecting.by_hand([FIRST], 0).row
    collecting.send(session, [FIRST], MAX // 2)
    speak(session, load=0.1)
    assert told(collecting)[session.pk] == 0.6


def test_a_session_says_how_much_it_has_to_do(collecting):
    session = collecting.start(*collecting.place())
    collecting.send(session, [FIRST], 50)
    collecting.taken(session, 50)
    status = said([session.pk])[session.pk].status
    assert isinstance(status, Status)
    assert 0 < status.arriving <= 50
    assert 0 < status.accepting <= 50
    assert 0 < status.busy <= 1
    assert status.most == MAX


def stop(collecting, how):
    person = Person.objects.get(username="rafael")
    how(task=collecting.revision.task, reason="", actor=person, clock=collecting.clock)


def revise(collecting, _):
    """Another revision of the same task, approved while the first one runs."""
    ada, rafael = (Person.objects.get(username=name) for name in ("ada", "rafael"))
    task, clock = collecting.revision.task, collecting.clock
    text = task.draft.text.replace("epsilon: 0.1", "epsilon: 0.2")
    version = services.save_draft(
        task=task, text=text, base_version=1, actor=ada, clock=clock
    ).version
    again = services.submit(task=task, version=version, actor=ada, clock=clock)
    services.approve(
        revision=again, seen=again.content_sha256, password=PASSWORD, comment="",
        actor=rafael, clock=clock,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("change", "how"), [(stop, services.pause), (stop, services.end), (revise, None)]
)
def test_a_session_is_placed_while_its_task_changes(collecting, change, how):
    """Each has to lock the revision and the log: they do it in one order."""
    met = []

    def do():
        with collecting.in_thread():
            try:
                change(collecting, how)
            except DatabaseError as error:
                met.append(error)

    thread = threading.Thread(target=do)
    with transaction.atomic():
        # As the controller has it.
        revision = Revision.objects.select_for_update(no_key=True).get(pk=collecting.revision.pk)
        thread.start()
        eventually(is_anyone_waiting)
        record(action="session.requested", subject=revision, clock=collecting.clock)
    thread.join(timeout=60)
    assert not met
    assert Revision.objects.get(pk=revision.pk).until_window
