"""Check-ins: what is open for the population, and when to come back."""

import pytest

from aggregation.protocol.messages import Offers, read_answer
from tests.portal.device_api.front_end import FrontEnd, open_task

DAY = 86_400


def offers(front_end: FrontEnd, population: str) -> Offers:
    reply = front_end.check_in(population)
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    return read_answer(Offers, reply.body)


def test_it_lists_what_is_open_for_the_population(front_end: FrontEnd) -> None:
    front_end.publish(
        open_task("ours", populations=["DE"]),
        open_task("theirs", populations=["FR"]),
        open_task("both", populations=["FR", "DE"]),
        open_task("everyones"),
        open_task("over", windows=[]),
    )
    listed = {p: [o.task for o in offers(front_end, p).tasks] for p in ("DE", "FR", "all")}
    assert listed == {
        "DE": ["ours", "both", "everyones"],
        "FR": ["theirs", "both", "everyones"],
        "all": ["everyones"],
    }


def test_an_offer_says_what_decides_on_the_device_and_nothing_more(front_end: FrontEnd) -> None:
    task = open_task(windows=["2026-11-02", "2026-11-09"])
    front_end.publish(task)
    (offered,) = front_end.check_in().json["tasks"]
    names = ("task", "client_task", "window_unit", "windows", "eligibility", "schedule")
    assert offered == {name: task[name] for name in names}


def test_a_task_of_two_approvals_is_listed_twice(front_end: FrontEnd) -> None:
    first = open_task(windows=["2026-11-02"])
    again = open_task(windows=["2026-11-09"], client_task=first["client_task"])
    front_end.publish(first, again)
    assert [o.windows for o in offers(front_end, "DE").tasks] == [("2026-11-02",), ("2026-11-09",)]


def test_the_hint_skips_days_with_nothing_due(front_end: FrontEnd) -> None:
    front_end.publish(next_due_seconds=5.5 * DAY, next_due_open_seconds=DAY)
    hint = offers(front_end, "DE").next_check_in
    assert (hint.min_seconds, hint.max_seconds) == (5.5 * DAY, 6 * DAY)


def test_a_busy_server_is_asked_less_often(front_end: FrontEnd) -> None:
    front_end.publish(open_task(), busy=0.0)
    calm = offers(front_end, "DE").next_check_in
    front_end.publish(open_task(), busy=1.0)
    busy = offers(front_end, "DE").next_check_in
    assert busy.min_seconds > 3 * calm.min_seconds


@pytest.mark.parametrize("population", ["XX", "de", "DE ", "None", "../all"])
def test_a_population_that_nobody_made_is_refused(front_end: FrontEnd, population: str) -> None:
    front_end.publish()
    reply = front_end.check_in(population)
    assert (reply.status, reply.code) == (422, "unknown_population")


def test_an_answer_is_kept_by_nobody(front_end: FrontEnd) -> None:
    headers = front_end.check_in().headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in headers
    assert "server" not in headers
