"""Assignments: a session, its key and a token, or a reason and a time."""

from typing import Any

import pytest

from aggregation.protocol.messages import Assigned, Assignments, TurnedAway, read_answer
from aggregation.protocol.tokens import is_token
from tests.portal.device_api.front_end import FrontEnd, Reply, open_session, open_task


def ask(front_end: FrontEnd, *tasks: dict[str, Any], population: str = "DE") -> Reply:
    wanted = [{name: task[name] for name in ("task", "client_task")} for task in tasks]
    body = {"version": 1, "population": population, "tasks": wanted}
    return front_end.ask("POST", "/device/v1/assignments", body)


def given(front_end: FrontEnd, *tasks: dict[str, Any], **more: Any) -> tuple[Any, ...]:
    return read_answer(Assignments, ask(front_end, *tasks, **more).body).assignments


def test_it_works(front_end: FrontEnd) -> None:
    task = open_task(windows=["2026-11-02", "2026-11-09"])
    front_end.publish(task)
    (assigned,) = given(front_end, task)
    (session,) = task["sessions"]
    assert isinstance(assigned, Assigned)
    assert (assigned.session, assigned.public_key) == (session["id"], session["public_key"])
    assert assigned.session_signature == session["signature"]
    assert assigned.approval.spec == task["approval"]["spec"]
    assert (assigned.signature, assigned.key_id) == (task["signature"], task["key_id"])
    assert assigned.windows == ("2026-11-02", "2026-11-09")
    assert assigned.address == f"/device/v1/client-tasks/{task['client_task']}"
    names = {"session": assigned.session, "update": assigned.update}
    assert is_token(front_end.token_key, assigned.token, **names)


def test_update_ids_are_never_the_same(front_end: FrontEnd) -> None:
    task = open_task()
    front_end.publish(task)
    ids = {one.update for _ in range(10) for one in given(front_end, *[task] * 16)}
    assert len(ids) == 160


def test_several_tasks_are_answered_in_the_order_asked(front_end: FrontEnd) -> None:
    tasks = [open_task(f"task-{n}") for n in range(5)]
    front_end.publish(*tasks)
    wanted = [tasks[n] for n in (3, 1, 4, 0, 2)]
    assert [one.task for one in given(front_end, *wanted)] == [one["task"] for one in wanted]


def test_a_task_of_two_approvals_is_given_with_each(front_end: FrontEnd) -> None:
    first = open_task(windows=["2026-11-02"])
    again = open_task(windows=["2026-11-09"], client_task=first["client_task"])
    front_end.publish(first, again)
    one, other = given(front_end, first, first)
    assert (one.windows, other.windows) == (("2026-11-02",), ("2026-11-09",))
    assert one.approval.spec != other.approval.spec


@pytest.mark.parametrize(
    "change",
    [{"task": "another"}, {"client_task": "0" * 64}],
)
def test_what_is_not_open_is_turned_away(front_end: FrontEnd, change: dict[str, str]) -> None:
    task = open_task()
    front_end.publish(task)
    (away,) = given(front_end, {**task, **change})
    assert isinstance(away, TurnedAway)
    assert away.reason.endswith(".")
    assert 900 <= away.retry_seconds <= 1800


def test_a_task_of_another_population_is_turned_away(front_end: FrontEnd) -> None:
    task = open_task(populations=["FR"])
    front_end.publish(task)
    assert isinstance(given(front_end, task)[0], TurnedAway)
    assert isinstance(given(front_end, task, population="FR")[0], Assigned)


@pytest.mark.parametrize("sessions", [[], [open_session(load=1.0), open_session(load=1.0)]])
def test_without_a_session_that_takes_more_a_device_is_turned_away(
    front_end: FrontEnd, sessions: list[Any]
) -> None:
    task = open_task(sessions=sessions)
    front_end.publish(task, busy=1.0)
    (away,) = given(front_end, task)
    assert away.reason == "No session of this task takes updates at the moment."
    assert away.retry_seconds >= 3600  # busy: four times as long


def test_devices_are_spread_over_sessions(front_end: FrontEnd) -> None:
    near = [open_session(load) for load in (0.31, 0.35, 0.4)]
    far = open_session(0.9)
    task = open_task(sessions=[*near, far])
    front_end.publish(task)
    # Each of three is missed by 96 devices with probability (2/3)^96 < 2e-17.
    seen = {one.session for _ in range(6) for one in given(front_end, *[task] * 16)}
    assert seen == {one["id"] for one in near}


def test_more_tasks_than_a_request_may_name_are_refused(front_end: FrontEnd) -> None:
    reply = ask(front_end, *[open_task()] * 17)
    assert (reply.status, reply.code) == (422, "bad_request")
    assert ask(front_end).status == 422
