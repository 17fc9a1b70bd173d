"""Session workers that stand still and come back as zombies, serving or about to flush."""

from __future__ import annotations

from signal import SIGCONT, SIGKILL, SIGTERM

from tests.faults.phones import Person
from tests.faults.scenario import Scenario
from tests.faults.world import Session


async def freeze_until_dead(scenario: Scenario, frozen: Session) -> None:
    """Its session is declared dead, and another is in its place."""
    parts = scenario.world.parts
    parts.freeze(frozen.worker)
    parts.start_worker()
    await scenario.until(lambda: scenario.state_of(frozen.id) == "dead", "it is not declared dead")
    await scenario.until(scenario.world.serving, "nobody takes its place")


async def thaw(scenario: Scenario, frozen: Session) -> None:
    """It goes on where it was, and finds itself over."""
    scenario.world.parts.signal(frozen.worker, SIGCONT)
    over = f"Session {frozen.id} found itself over"
    await scenario.until(lambda: scenario.log_says(over), "the zombie does not notice")


async def one_about_to_flush(scenario: Scenario, people: list[Person]) -> Session:
    """It waits for somebody to take over when it is frozen.

    Some of these people send at each try, so that there is always a session that holds some.
    """
    parts, share = scenario.world.parts, -(-len(people) // 10)
    for start in range(0, len(people), share):
        holder = await scenario.a_holder(people[start : start + share])
        for other in parts.workers - {holder.worker}:
            parts.signal(other, SIGKILL)
            scenario.kills += 1
        parts.signal(holder.worker, SIGTERM)
        await scenario.until(lambda: scenario.state_of(holder.id) != "open", "it does not stop")  # noqa: B023
        parts.freeze(holder.worker)
        if scenario.state_of(holder.id) == "completing":
            return holder
        # It was full, and has flushed before anybody could stop it.
        parts.signal(holder.worker, SIGCONT)
        parts.start_worker()
    raise AssertionError("No session that ends could be caught.")
