"""Uploads: into the queue or not at all, and every status of the protocol."""

import json
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from aggregation.protocol.sealing import MAX_SEALED
from aggregation.protocol.tokens import token
from tests.golden.protocol.write import path_of
from tests.parts import eventually
from tests.portal.device_api.front_end import (
    FrontEnd,
    open_task,
    queue_of,
    running_front_end,
)


@pytest.fixture
def session(front_end: FrontEnd) -> str:
    """A session with a queue, which the snapshot does not name."""
    made = secrets.token_hex(16)
    front_end.open_queue(made)
    return made


def test_it_works(front_end: FrontEnd, session: str) -> None:
    update, sealed = secrets.token_hex(8), secrets.token_bytes(1900)
    reply = front_end.upload(session, sealed, update=update)
    assert (reply.status, reply.body) == (202, b"")
    items = front_end.valkey.client.lrange(queue_of(session), 0, -1)
    assert items == [b"", bytes.fromhex(update) + sealed]


def test_many_at_once_all_arrive(front_end: FrontEnd, session: str) -> None:
    others = [session, *(secrets.token_hex(16) for _ in range(3))]
    for one in others[1:]:
        front_end.open_queue(one)
    gone = secrets.token_hex(16)
    bodies = [secrets.token_bytes(100 + n) for n in range(120)]

    def send(number: int) -> int:
        to = gone if number % 5 == 4 else others[number % 5]
        return front_end.upload(to, bodies[number]).status

    with ThreadPoolExecutor(24) as threads:
        statuses = list(threads.map(send, range(120)))
    assert statuses == [410 if n % 5 == 4 else 202 for n in range(120)]
    for place, one in enumerate(others):
        items = front_end.valkey.client.lrange(queue_of(one), 1, -1)
        assert {item[8:] for item in items} == set(bodies[place::5])


def test_a_session_without_a_queue_is_over(front_end: FrontEnd) -> None:
    session = secrets.token_hex(16)
    reply = front_end.upload(session)
    assert (reply.status, reply.code) == (410, "session_over")
    assert reply.body.decode() == json.loads(path_of("messages").read_text())["error answer"]
    assert not front_end.valkey.client.exists(queue_of(session))


def test_one_that_was_sent_before_is_accepted_again(front_end: FrontEnd, session: str) -> None:
    """The session tells them apart; a device whose answer was lost sends the same once more."""
    update = secrets.token_hex(8)
    assert [front_end.upload(session, update=update).status for _ in range(2)] == [202, 202]


@pytest.mark.parametrize(
    "changed",
    [
        {"Mayfly-Token": "0" * 32},
        {"Mayfly-Token": ""},
        {"Mayfly-Token": "é" * 16},
        {"Mayfly-Token": "0" * 5000},
        {"Mayfly-Update": "0" * 16},
        {"Mayfly-Update": ""},
        {"Mayfly-Update": "zz" * 8},
    ],
)
def test_a_wrong_token_is_refused_the_same_way(
    front_end: FrontEnd, session: str, changed: dict[str, str]
) -> None:
    replies = [
        front_end.upload(session, headers={k: v.encode("latin-1") for k, v in changed.items()}),
        front_end.upload(secrets.token_hex(16), headers={"Mayfly-Token": "1" * 32}),
    ]
    assert {(r.status, r.code, r.body) for r in replies} == {(422, "bad_token", replies[0].body)}
    assert front_end.valkey.client.llen(queue_of(session)) == 1


def test_a_token_is_of_one_session_and_one_update(front_end: FrontEnd, session: str) -> None:
    other, update = secrets.token_hex(16), "a" + secrets.token_hex(8)[1:]
    front_end.open_queue(other)
    assert front_end.upload(session, update=update).status == 202
    of_other = token(front_end.token_key, session=other, update=update)
    assert (
        front_end.upload(session, update=update, headers={"Mayfly-Token": of_other}).status == 422
    )
    capitals = {"Mayfly-Update": update.upper()}
    if update.upper() != update:
        assert front_end.upload(session, update=update, headers=capitals).status == 422


@pytest.mark.parametrize("session", ["", "x", "0" * 31, "0" * 33, "G" * 32, "%00" * 16, "A" * 32])
def test_an_id_that_is_none_is_refused(front_end: FrontEnd, session: str) -> None:
    headers = {"Mayfly-Update": "0" * 16, "Mayfly-Token": "0" * 32}
    path = f"/device/v1/sessions/{session}/updates"
    reply = front_end.ask("POST", path, b"sealed", headers=headers)
    assert (reply.status, reply.code) == (422, "bad_token")


def test_a_client_task_has_a_cap_of_its_own(front_end: FrontEnd) -> None:
    task = open_task(max_sealed=700)
    front_end.publish(task)
    session = task["sessions"][0]["id"]
    front_end.open_queue(session)
    assert front_end.upload(session, b"x" * 700).status == 202
    reply = front_end.upload(session, b"x" * 701)
    assert (reply.status, reply.code) == (413, "too_large")
    assert "700 bytes" in reply.json["error"]["message"]


def test_longer_than_any_update_is_refused(front_end: FrontEnd, session: str) -> None:
    front_end.publish()
    assert front_end.upload(session, b"x" * MAX_SEALED).status == 202
    reply = front_end.upload(session, b"x" * (MAX_SEALED + 1))
    assert (reply.status, reply.headers["connection"]) == (413, "close")


def test_an_empty_update_is_the_session_s_to_refuse(front_end: FrontEnd, session: str) -> None:
    """No answer depends on what an update is, only on what it claims to be."""
    assert front_end.upload(session, b"").status == 202


def test_a_long_queue_sends_devices_off_until_it_is_shorter() -> None:
    with running_front_end(MAYFLY_QUEUE_LENGTH="3") as front_end:
        session, other = secrets.token_hex(16), secrets.token_hex(16)
        front_end.open_queue(session)
        front_end.open_queue(other)
        assert [front_end.upload(session).status for _ in range(3)] == [202] * 3
        reply = front_end.upload(session)
        assert (reply.status, reply.code) == (429, "busy")
        assert int(reply.headers["retry-after"]) >= 2
        assert front_end.valkey.client.llen(queue_of(session)) == 4  # what was refused is not in it
        assert front_end.upload(other).status == 202
        front_end.valkey.client.ltrim(queue_of(session), 0, 0)
        eventually(lambda: front_end.upload(session).status == 202)


def test_an_old_token_takes_no_more_room_than_an_open_task(
    front_end: FrontEnd, session: str
) -> None:
    """The session may be one that this front end has not heard of: it is not refused for good."""
    front_end.publish(open_task(max_sealed=700), open_task("monthly-trips", max_sealed=900))
    assert front_end.upload(session, b"x" * 900).status == 202
    reply = front_end.upload(session, b"x" * 901)
    assert (reply.status, reply.code) == (429, "busy")
    with front_end.begin_upload(session, 901) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 429 ")
    front_end.publish(open_task(max_sealed=901))
    assert front_end.upload(session, b"x" * 901).status == 202


def test_a_front_end_holds_no_more_than_it_has_room_for() -> None:
    with running_front_end(MAYFLY_UPLOAD_ROOM_MB="1") as front_end:
        session = secrets.token_hex(16)
        front_end.open_queue(session)
        slow = [front_end.begin_upload(session, 64_000) for _ in range(15)]
        eventually(lambda: front_end.upload(session, b"x" * 60_000).status == 429)
        assert front_end.upload(session, b"x" * 20_000).status == 202
        for one in slow:
            one.close()
        eventually(lambda: front_end.upload(session, b"x" * 60_000).status == 202)
