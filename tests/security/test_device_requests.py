"""Hundreds of wrong requests a day, thousands in `make deep`, to two real servers at once.

One has the short way for devices, the other reads everything the usual way. Neither may break, and
both must say the same: a reader that understands a request differently could be led past a check.
"""

import json
import random
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregation.protocol.messages import Code
from tests.portal.device_api.bad_requests import CANARY
from tests.portal.device_api.front_end import (
    UNPROXIED,
    FrontEnd,
    queue_of,
    running_front_end,
)
from tests.portal.device_api.raw_http import RawReply, request
from tests.security.asking import ask_all
from tests.security.device_requests import Target, wrong_request
from tests.security.test_connections import memory

NUMBER = {"everyday": 400, "full": 12_000}
WARM_UP = 50
PAGE = request("GET", "/nothing", b"")
PATIENCE = 2.0
MEGABYTE = 1_000_000
NO_REQUEST = (400, b"Invalid HTTP request received.")
Said = list[tuple[int, bytes]]


@pytest.fixture(scope="module")
def servers(
    template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[list[FrontEnd], Target]]:
    """Both have the same sessions and keys, so that the same bytes mean the same."""
    folder = tmp_path_factory.mktemp("two")
    databases = [Path(shutil.copy(template_database, folder / name)) for name in "ab"]
    target = Target(secrets.token_hex(16), secrets.token_hex(16), secrets.token_bytes(32))
    plain = ("--http", "httptools", *UNPROXIED)
    with (
        running_front_end(database=databases[0], token_key=target.key) as ours,
        running_front_end(database=databases[1], token_key=target.key, options=plain) as usual,
    ):
        for one in (ours, usual):
            one.open_queue(target.session)
            one.publish()
        yield [ours, usual], target


def test_wrong_requests_break_nothing_and_are_answered_alike(
    servers: tuple[list[FrontEnd], Target], size: str
) -> None:
    both, target = servers
    for one in both:  # what the first pages and calls load stays
        ask_all(one.port, [PAGE] * 20, patience=60, most=1)
        _answers(one, target, range(WARM_UP), PATIENCE)
    before = [memory(one.process.pid) for one in both]
    seeds = range(NUMBER[size])
    answers = [_answers(one, target, seeds, PATIENCE) for one in both]
    different = [seed for seed, *said in zip(seeds, *answers, strict=True) if said[0] != said[1]]
    # A busy machine may have been late: those are asked once more, and waited for longer.
    again = [_answers(one, target, different, 5 * PATIENCE) for one in both]
    wrong = [
        (seed, wrong_request(random.Random(seed), target), ours, usual)
        for seed, ours, usual in zip(different, *again, strict=True)
        if not _alike(ours, usual)
    ]
    assert not wrong, wrong[0]
    statuses = {status for said in answers[0] for status, _ in said}
    assert statuses >= {200, 202, 400, 404, 405, 422}
    for one, memory_before in zip(both, before, strict=True):
        assert one.check_in().status == 200
        assert memory(one.process.pid) - memory_before < 30 * MEGABYTE
    _assert_quiet(both[0].log, target)


def _alike(ours: Said, usual: Said) -> bool:
    """The usual server hangs up at a request that is none, and what was sent ahead of it may go
    unanswered; ours answers that first."""
    return ours == usual or (usual == [NO_REQUEST] and ours[-1:] == usual)


def _answers(
    front_end: FrontEnd, target: Target, seeds: range | list[int], patience: float
) -> list[Said]:
    every = [wrong_request(random.Random(seed), target) for seed in seeds]
    found = ask_all(front_end.port, every, patience=patience)
    return [
        [_said(seed, reply) for reply in replies]
        for seed, replies in zip(seeds, found, strict=True)
    ]


def _said(seed: int, reply: RawReply) -> tuple[int, bytes]:
    assert reply.status < 500 or reply.status == 503, (seed, reply)
    if "html" in reply.headers.get("content-type", ""):
        return reply.status, b""  # a page for people, at another address, with its nonces
    assert "set-cookie" not in reply.headers
    if reply.status >= 400 and reply.body and "json" in reply.headers["content-type"]:
        error = json.loads(reply.body)["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["code"] in set(Code)
    # What says when to come back is drawn anew each time.
    return reply.status, b"" if reply.status == 200 else reply.body


def _assert_quiet(log: str, target: Target) -> None:
    for word in (CANARY, target.session, "127.0.0.1", "Traceback", "Exception", "device/v1"):
        assert word not in log


def test_nobody_learns_why_a_token_is_wrong(servers: tuple[list[FrontEnd], Target]) -> None:
    """Another session's, a session that is over, one that never was, and noise: the same bytes."""
    (front_end, _), target = servers
    rng, made_up = random.Random(1), secrets.token_hex(16)
    wrong = [
        target.upload(rng, signed=made_up),
        target.upload(rng, session=target.over, signed=target.session),
        target.upload(rng, session=made_up, signed=target.session),
        target.upload(rng).replace(b"Mayfly-Token: ", b"Mayfly-Token: 0"),
        target.upload(rng).replace(b"Mayfly-Token", b"Other"),
    ]
    before = front_end.valkey.client.llen(queue_of(target.session))
    said = ask_all(front_end.port, wrong, patience=60, most=1)
    replies = {(reply.status, reply.body) for (reply,) in said}
    assert len(replies) == 1
    assert replies.pop()[0] == 422
    assert front_end.valkey.client.llen(queue_of(target.session)) == before
