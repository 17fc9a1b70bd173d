"""Queues of sessions in Valkey: what is taken out, and what is left when nobody does."""

from typing import Any

import pytest

from aggregation.protocol.ids import fresh_session_id, fresh_update_id, raw_update
from portal.collection import live
from portal.valkey import queue_client
from tests.portal.collection.collecting import full_queues

pytestmark = pytest.mark.usefixtures("valkey")


@pytest.fixture
def session() -> Any:
    """With a queue that is empty."""
    session = fresh_session_id()
    live.open_queue(session)
    yield session
    live.forget(session)


def append(session: str, count: int) -> list[str]:
    """As front ends do; the ids of the updates that got in."""
    ids = [fresh_update_id() for _ in range(count)]
    name = live.key(session, "updates")
    return [one for one in ids if queue_client().rpushx(name, raw_update(one) + b"sealed")]


def popped(session: str, count: int = 10) -> list[str]:
    return [update for update, _ in live.pop(session, count) or ()]


def test_it_works(session):
    assert popped(session) == []
    ids = append(session, 5)
    assert live.queue_length(session) == 5
    assert popped(session, 2) + popped(session) == ids
    assert live.queue_length(session) == 0
    assert len(append(session, 1)) == 1


def test_a_valkey_without_memory_is_emptied(session):
    """What fills it are the queues: if nothing could be taken out, it would stay full for ever."""
    ids = append(session, 5)
    with full_queues():
        assert popped(session, 2) == ids[:1]
        assert popped(session) == ids[1:4]
        # The last one stays, so that there is a queue.
        assert popped(session) == []
    later = append(session, 2)
    assert popped(session) == [ids[4], *later]
    assert append(session, 1)
    assert live.queue_length(session) == 1


def test_a_queue_whose_session_is_gone_does_not_stay_for_ever(session):
    """Its worker took from it once more after it was deleted, and was killed."""
    live.forget(session)
    assert live.pop(session, 10) is None
    assert len(append(session, 2)) == 2
    assert 0 < queue_client().ttl(live.key(session, "updates")) <= 86_400
    # Whoever does look after it keeps it.
    queue_client().expire(live.key(session, "updates"), 10)
    live.pop(session, 10)
    assert queue_client().ttl(live.key(session, "updates")) > 10
    live.close_queue(session)
    assert queue_client().ttl(live.key(session, "closing")) > 10
