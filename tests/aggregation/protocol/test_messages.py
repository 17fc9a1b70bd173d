"""Messages: strict towards devices, lenient towards the future, and small."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.messages import (
    MAX_REQUEST,
    MAX_WANTED,
    Active,
    AssignmentRequest,
    Assignments,
    CheckIn,
    Failure,
    Offers,
    SessionOpen,
    SessionOver,
    Wanted,
    WrongVersion,
    read_answer,
    read_request,
    read_status,
    write,
)

WANTED = {"task": "weekly-trips", "client_task": "ab" * 32}
ASKED = {"version": 1, "population": "DE", "tasks": [WANTED]}
TURNED_AWAY = {**WANTED, "kind": "turned_away", "reason": "No session is free.", "retry_seconds": 5}


def test_it_works() -> None:
    request = AssignmentRequest(version=1, population="DE", tasks=(Wanted(**WANTED),))
    assert read_request(AssignmentRequest, write(request)) == request
    assert write(CheckIn(version=1, population="DE")) == b'{"version":1,"population":"DE"}'


@pytest.mark.parametrize("kind", [Active, CheckIn])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b"[" * 4000,
        b"\xff",
        b'{"version":1,"population":"\xff"}',
        b'{"version":1,"population":"\\ud800"}',
        b'{"version":1,"population":""}',
        b'{"version":1,"population":"' + b"x" * 65 + b'"}',
        b'{"version":1,"population":7}',
        b'{"version":"1","population":"DE"}',
        b'{"version":1e400,"population":"DE"}',
        b'{"version":true,"population":"DE"}',
        b'{"version":1,"population":"DE","device":"mine"}',
        b'{"version":1,"population":"DE"} ' * 2,
        b" " * MAX_REQUEST + b'{"version":1,"population":"DE"}',
    ],
)
def test_it_refuses(kind: type[Active] | type[CheckIn], body: bytes) -> None:
    with pytest.raises(Problem):
        read_request(kind, body)


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": []},
        {"tasks": [WANTED] * (MAX_WANTED + 1)},
        {"tasks": [{**WANTED, "client_task": "AB" * 32}]},
        {"tasks": [{**WANTED, "client_task": "ab" * 32 + "\n"}]},
        {"tasks": [{**WANTED, "task": ""}]},
        {"tasks": [{**WANTED, "session": "mine"}]},
        {"tasks": None},
    ],
)
def test_it_refuses_a_request_for_assignments(change: dict[str, object]) -> None:
    with pytest.raises(Problem):
        read_request(AssignmentRequest, msgspec.json.encode({**ASKED, **change}))


def test_the_most_tasks_fit_into_the_most_bytes() -> None:
    longest = [{"task": "t" * 64, "client_task": "ab" * 32}] * MAX_WANTED
    body = msgspec.json.encode({**ASKED, "population": "p" * 64, "tasks": longest})
    assert len(read_request(AssignmentRequest, body).tasks) == MAX_WANTED


@pytest.mark.parametrize("version", [0, 2, -1])
def test_another_version_is_told_apart(version: int) -> None:
    body = msgspec.json.encode({"version": version, "population": "DE"})
    with pytest.raises(WrongVersion, match=f"version 1 of the device protocol, not {version}"):
        read_request(CheckIn, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"version":2}',
        b'{"version":2,"population":"DE","language":"x"}',
        b'{"language":{"a":[1]},"population":7,"version":2}',
    ],
)
def test_another_version_may_look_different(body: bytes) -> None:
    with pytest.raises(WrongVersion, match="not 2"):
        read_request(CheckIn, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"version":1,"population":"DE","language":"x"}',
        b'{"version":"2","population":"DE"}',
        b'{"version":2,"population":"DE"',
        b'{"version":2,"population":' + b"[" * 4000,
    ],
)
def test_what_is_wrong_in_this_version_or_in_any_is_no_other_version(body: bytes) -> None:
    with pytest.raises(Problem, match="not the request asked for"):
        read_request(CheckIn, body)


@given(st.binary(max_size=200))
def test_noise_is_a_problem_and_nothing_else(body: bytes) -> None:
    for read in (
        lambda: read_request(CheckIn, body),
        lambda: read_answer(Offers, body),
        lambda: read_answer(Assignments, body),
        lambda: read_status(body),
    ):
        with pytest.raises(Problem):
            read()


def test_a_device_ignores_what_it_does_not_know() -> None:
    answer = {"assignments": [{**TURNED_AWAY, "new": 1}], "newer": {}}
    (read,) = read_answer(Assignments, msgspec.json.encode(answer)).assignments
    assert read.task == "weekly-trips"


def test_a_device_does_not_take_an_answer_of_an_unknown_kind() -> None:
    answer = {"assignments": [{**TURNED_AWAY, "kind": "promised"}]}
    with pytest.raises(Problem, match="not one that this protocol knows"):
        read_answer(Assignments, msgspec.json.encode(answer))


def test_the_words_on_one_update() -> None:
    assert write(SessionOpen()) == b'{"state":"open"}'
    assert write(SessionOver(counted=())) == b'{"state":"over","counted":[]}'
    for status in (SessionOpen(), SessionOver(counted=("2026-11-09",))):
        assert read_status(write(status)) == status


def test_every_error_has_one_shape() -> None:
    body = b'{"error":{"code":"busy","message":"Later.","hint":""}}'
    assert write(read_answer(Failure, body)) == body
