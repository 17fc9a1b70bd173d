"""Exports at once: a quarter of the places for one caller, and all of them for all."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.http import StreamingHttpResponse
from django.test import Client, RequestFactory

from portal.problems import AllBusy
from portal.releases import sending
from portal.releases.sending import Sending
from tests.parts import eventually
from tests.portal.releases.data.conftest import AT

CSV = f"{AT}/files/cells.csv"


def _address(place: int) -> str:
    return f"192.0.2.{place}"


def test_it_works(settings, released, body) -> None:
    """Two of eight places are one address's own; what was read makes room again."""
    settings.EXPORTS_AT_ONCE = 8
    guest = Client(REMOTE_ADDR=_address(1))
    first, second = guest.get(CSV), guest.get(CSV)
    refused = guest.get(CSV)
    assert (refused.status_code, refused["Retry-After"]) == (429, "10")
    assert refused.content == (
        b"You have 2 exports on their way already. Ask again in 10 seconds.\n"
    )
    assert Client(REMOTE_ADDR=_address(2)).get(CSV).status_code == 200
    assert body(first) == body(second)
    assert guest.get(CSV).status_code == 200


def test_all_together_have_so_many(settings, released) -> None:
    settings.EXPORTS_AT_ONCE = 4
    held = [Client(REMOTE_ADDR=_address(place)).get(CSV) for place in range(4)]
    refused = Client(REMOTE_ADDR=_address(9)).get(f"/api/v1{CSV}")
    assert (refused.status_code, refused["Retry-After"]) == (503, "10")
    assert refused.json()["error"]["code"] == "busy"
    assert all(answer.status_code == 200 for answer in held)


@pytest.fixture
def asking(settings, db):
    from django.contrib.auth.models import AnonymousUser

    settings.EXPORTS_AT_ONCE = 1
    request = RequestFactory().get("/", REMOTE_ADDR=_address(77))
    request.user = AnonymousUser()
    return request


def test_who_goes_away_leaves_a_place(asking) -> None:
    """As a front end does: it closes the answer, however much of it was read."""
    for parts_read in (0, 1):
        answer = StreamingHttpResponse(Sending(iter([b"a", b"b"]), asking))
        for _ in range(parts_read):
            assert asyncio.run(anext(aiter(answer))) == b"a"
        with pytest.raises(AllBusy):
            Sending(iter([]), asking)
        answer.close()


def test_who_hangs_up_keeps_the_place_until_the_thread_is_done(asking) -> None:
    """A thread cannot be stopped: if its place were free, many could be set to work at once."""
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[bytes]:
        begun.set()
        go_on.wait(10)
        yield b"a"

    async def hang_up(sending: Sending) -> None:
        part = asyncio.ensure_future(anext(sending))
        await asyncio.to_thread(begun.wait, 10)
        part.cancel()
        with suppress(asyncio.CancelledError):
            await part
        sending.close()
        with pytest.raises(AllBusy):
            Sending(iter([]), asking)
        go_on.set()

    asyncio.run(hang_up(sending := Sending(slow(), asking)))
    eventually(lambda: is_free(asking))
    assert asyncio.run(anext(sending, b"over")) == b"over"


def is_free(asking) -> bool:
    try:
        Sending(iter([]), asking).close()
    except AllBusy:
        return False
    return True


def test_one_that_is_dropped_while_another_is_counted_waits_for_nothing(asking) -> None:
    """Python looks for garbage whenever it likes, in a thread that holds a lock, too."""
    waiting = Sending(iter([b"a"]), asking)
    with sending._lock:
        del waiting
        gc.collect()
    Sending(iter([]), asking).close()


def test_an_export_that_fails_leaves_a_place(asking) -> None:
    sending = Sending(map(bytes.fromhex, ["61", "not hex"]), asking)
    assert asyncio.run(anext(sending)) == b"a"
    with pytest.raises(ValueError, match="hex"):
        asyncio.run(anext(sending))
    Sending(iter([]), asking).close()


def test_who_never_asks_for_an_answer_leaves_a_place(asking) -> None:
    waiting = Sending(iter([b"a"]), asking)
    with pytest.raises(AllBusy):
        Sending(iter([b"a"]), asking)
    del waiting
    gc.collect()
    Sending(iter([b"a"]), asking).close()


def test_other_names_of_places_are_another_file(released) -> None:
    """An export has names beside ids: a new list of places is a new answer."""
    from portal.streams.gazetteer import NAME
    from portal.streams.selectors import streams_folder

    guest = Client()
    tag = guest.get(CSV)["ETag"]
    assert guest.get(CSV, headers={"If-None-Match": tag}).status_code == 304
    path = streams_folder() / NAME
    before = path.read_bytes()
    path.write_bytes(before + b"\0" * 4096)
    try:
        assert guest.get(CSV, headers={"If-None-Match": tag}).status_code == 200
    finally:
        path.write_bytes(before)
