"""The device API before real sessions: what is published, assigned, sent, and what became of it."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from aggregation.protocol.messages import Assigned, Assignments, Offers, read_answer
from aggregation.protocol.sealing import seal
from aggregation.protocol.session_key import is_session_key
from aggregation.protocol.update import Shape, pack
from aggregation.protocol.windows import Window
from portal.collection import live
from portal.collection.keys import worker_key
from portal.collection.models import Session
from portal.collection.opening import config_of
from portal.collection.placing import bury
from portal.collection.snapshot import publish_snapshot
from portal.valkey import queue_client
from tests.parts import eventually
from tests.portal.collection.collecting import MAX, Collecting, _part
from tests.portal.collection.conftest import collecting, first_database, keys, parts, streams  # noqa: F401
from tests.portal.device_api.front_end import FrontEnd, running_front_end

FIRST, SECOND = "2026-11-17", "2026-11-18"


@pytest.fixture
def front_end(collecting: Collecting, tmp_path: Path) -> Iterator[FrontEnd]:  # noqa: F811
    """A front end on the same database, keys and Valkey as the sessions of this process."""
    shared = {
        "MAYFLY_QUEUE_URL": settings.QUEUE_URL,
        "MAYFLY_KEYS_DIR": str(settings.KEYS_DIR),
    }
    with running_front_end(database=tmp_path / "own.sqlite3", **shared) as running:
        yield running


def offered(front_end: FrontEnd, clock: Any) -> Offers:
    """Publish, and wait until a task and a session are there."""
    publish_snapshot(clock=clock)

    def found() -> Offers | None:
        reply = front_end.check_in("all")
        offers = read_answer(Offers, reply.body) if reply.status == 200 else None
        return offers if offers and offers.tasks else None

    return eventually(found)


def assigned(front_end: FrontEnd, clock: Any) -> Assigned:
    def ask() -> Assigned | None:
        (offer,) = offered(front_end, clock).tasks
        wanted = [{"task": offer.task, "client_task": offer.client_task}]
        body = {"version": 1, "population": "all", "tasks": wanted}
        reply = front_end.ask("POST", "/device/v1/assignments", body)
        (given,) = read_answer(Assignments, reply.body).assignments
        return given if isinstance(given, Assigned) else None

    return eventually(ask)


def send(front_end: FrontEnd, given: Assigned, windows: tuple[str, ...]) -> int:
    shape = Shape.of(config_of(Session.objects.get(pk=given.session)))
    plain = pack({Window.parse(w, shape.unit): _part(3) for w in windows}, shape)
    sealed = seal(
        plain,
        public=bytes.fromhex(given.public_key),
        client_task=given.client_task,
        session=given.session,
        update=given.update,
    )
    headers = {"Mayfly-Update": given.update, "Mayfly-Token": given.token}
    path = f"/device/v1/sessions/{given.session}/updates"
    return front_end.ask("POST", path, sealed, headers=headers).status


def test_an_update_from_check_in_to_counted(front_end, collecting):  # noqa: F811
    session = collecting.start(*collecting.place())
    given = assigned(front_end, collecting.clock)
    assert given.session == session.pk
    assert given.windows == (FIRST,)
    body = front_end.ask("GET", given.address)
    assert hashlib.sha256(body.body).hexdigest() == given.client_task
    assert body.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert is_session_key(
        worker_key().public_key(),
        bytes.fromhex(given.session_signature),
        session=given.session,
        client_task=given.client_task,
        public=bytes.fromhex(given.public_key),
    )
    assert send(front_end, given, (FIRST,)) == 202
    assert front_end.status(given.session, given.update).json == {"state": "open"}
    collecting.send(session, [FIRST], MAX - 1)
    collecting.until(session.pk, "flushed")
    publish_snapshot(clock=collecting.clock)
    over = {"state": "over", "counted": [FIRST]}
    eventually(lambda: front_end.status(given.session, given.update).json == over)
    # One that was never sent is not counted; one for a session that is over is refused.
    other = secrets.token_hex(8)
    assert front_end.status(session.pk, other).json == {"state": "over", "counted": []}
    assert send(front_end, given, (FIRST,)) == 410


def test_what_was_handed_over_is_open_until_it_is_stored(front_end, collecting):  # noqa: F811
    one = collecting.start(*collecting.place())
    given = assigned(front_end, collecting.clock)
    assert send(front_end, given, (FIRST,)) == 202
    collecting.taken(one, 1)
    two = collecting.opened(worker="two")
    collecting.stopping.add("one")
    collecting.until(one.pk, "flushed")
    # No snapshot names it; the database knows that the other one may still count it.
    queue_client().delete(live.SNAPSHOT)
    eventually(lambda: front_end.check_in("all").status == 503)
    for _ in range(3):
        assert front_end.status(one.pk, given.update).json == {"state": "open"}
    collecting.send(two, [FIRST], MAX - 1)
    collecting.until(two.pk, "flushed")
    over = {"state": "over", "counted": [FIRST]}
    eventually(lambda: front_end.status(one.pk, given.update).json == over)


def test_a_dead_session_counted_nothing(front_end, collecting):  # noqa: F811
    session = collecting.by_hand([FIRST], 5).row
    update = secrets.token_hex(8)
    assert front_end.status(session.pk, update).json == {"state": "open"}
    row = Session.objects.get(pk=session.pk)
    assert bury(row, Session.Reason.LOST, clock=collecting.clock)
    over = {"state": "over", "counted": []}
    eventually(lambda: front_end.status(session.pk, update).json == over)


def test_only_open_client_tasks_are_given_out(front_end, collecting):  # noqa: F811
    offered(front_end, collecting.clock)
    sha = collecting.revision.client_task_sha256
    head = front_end.ask("HEAD", f"/device/v1/client-tasks/{sha}")
    whole = front_end.ask("GET", f"/device/v1/client-tasks/{sha}")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.body))
    assert json.loads(whole.body)["version"] == 1
    for other in ("0" * 64, collecting.revision.spec_sha256):
        reply = front_end.ask("GET", f"/device/v1/client-tasks/{other}")
        assert (reply.status, reply.code) == (404, "not_found")
    for misspelt in (sha.upper(), sha[:-1], sha + "0", "x" * 64):
        reply = front_end.ask("GET", f"/device/v1/client-tasks/{misspelt}")
        assert (reply.status, reply.code) == (422, "bad_request")
