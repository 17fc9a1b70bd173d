"""What a front end counts: every call, by what came of it, and nothing about who called."""

import asyncio
import secrets
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from aggregation.clock import ManualClock
from portal.device_api.line import Line
from portal.device_api.tally import MEASURED_ONE_IN, Tally
from tests.parts import eventually
from tests.portal.device_api.front_end import FrontEnd, open_session, open_task


def counted(front_end: FrontEnd) -> Counter[str]:
    """Counter and population → count, of whatever day."""
    found = front_end.valkey.client.hgetall("mayfly:fleet")
    return Counter({name.decode().partition("|")[2]: int(n) for name, n in found.items()})


def since(front_end: FrontEnd, before: Counter[str], wanted: dict[str, int]) -> None:
    """Wait until exactly so much more is counted of each."""

    def more() -> dict[str, int]:
        now = counted(front_end)
        return {name: now[name] - before[name] for name in wanted}

    eventually(lambda: more() == wanted)


def quiet(front_end: FrontEnd) -> Counter[str]:
    """What is counted once the calls so far are in: an odd one marks the end of them."""
    before = counted(front_end)["call.unknown.not_found|"]
    front_end.ask("GET", "/device/v1/no-such-call")
    eventually(lambda: counted(front_end)["call.unknown.not_found|"] > before)
    return counted(front_end)


def ask_for(front_end: FrontEnd, population: str, *tasks: dict) -> None:
    wanted = [{"task": one["task"], "client_task": one["client_task"]} for one in tasks]
    body = {"version": 1, "population": population, "tasks": wanted}
    assert front_end.ask("POST", "/device/v1/assignments", body).status == 200


def test_it_counts_the_stages_of_the_funnel_by_population(front_end: FrontEnd) -> None:
    own, shared = open_task("own", populations=["DE"]), open_task("shared")
    full = open_task("full", sessions=[open_session(load=1.0)])
    front_end.publish(own, shared, full)
    before = quiet(front_end)
    for population in ("DE", "DE", "FR"):
        assert front_end.check_in(population).status == 200
    ask_for(front_end, "DE", own, shared, full)
    ask_for(front_end, "FR", own, shared)
    for task in (own, shared):
        session = task["sessions"][0]["id"]
        front_end.open_queue(session)
        assert front_end.upload(session).status == 202
    since(
        front_end,
        before,
        {
            "checked_in|DE": 2,
            "checked_in|FR": 1,
            "assigned|DE": 2,
            "assigned|FR": 1,
            "turned_away.no_session|DE": 1,
            "turned_away.not_open|FR": 1,
            "uploaded|DE": 1,
            # Of a task for several populations: an upload does not say which.
            "uploaded|": 1,
            "call.check-in.ok|": 3,
            "call.assignments.ok|": 2,
            "call.upload.ok|": 2,
        },
    )


def test_it_counts_refusals_by_their_code(front_end: FrontEnd) -> None:
    front_end.publish()
    before = quiet(front_end)
    assert front_end.upload(secrets.token_hex(16)).status == 410
    assert front_end.upload(secrets.token_hex(16), headers={"Mayfly-Token": "x"}).status == 422
    assert front_end.check_in("nowhere").status == 422
    since(
        front_end,
        before,
        {
            "call.upload.session_over|": 1,
            "call.upload.bad_token|": 1,
            "call.check-in.unknown_population|": 1,
            "checked_in|nowhere": 0,
        },
    )


def test_it_measures_some_of_each_kind(front_end: FrontEnd) -> None:
    task = open_task()
    front_end.publish(task)
    session = task["sessions"][0]["id"]
    front_end.open_queue(session)
    before = quiet(front_end)
    for _ in range(2 * MEASURED_ONE_IN):
        assert front_end.upload(session, b"x" * 3_000).status == 202
    # 3,000 bytes and the headers are at most 4,000; the answer is little more than headers.
    since(
        front_end,
        before,
        {"up.upload.4|": 2, "down.upload.0|": 2, "call.upload.ok|": 2 * MEASURED_ONE_IN},
    )
    more = counted(front_end) - before
    assert sum(n for name, n in more.items() if name.startswith("ms.upload.")) == 2
    # One call stands for all of them, also for the few that are not uploads.
    assert 2 * 3_100 < more["bytes.up|"] / MEASURED_ONE_IN < 2 * 4_000 + 500


def test_what_does_not_arrive_is_written_again(tmp_path: Path) -> None:
    async def away() -> Tally:
        line = Line(f"unix://{tmp_path / 'nobody.sock'}", seconds=1)
        tally = Tally(line, every=60, clock=ManualClock(datetime(2026, 11, 16, tzinfo=UTC)))
        tally.count("checked_in", "DE")
        await tally.write()
        tally.count("checked_in", "DE")
        await line.close()
        return tally

    tally = asyncio.run(away())
    assert tally._counts == Counter({("checked_in", "DE"): 2})
