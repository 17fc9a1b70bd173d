"""One system for many faults, with short heartbeats; a table of what became of them at the end.

Everyday the system is on SQLite, and a second one on PostgreSQL for what only that can show. In
full, all faults befall one system on PostgreSQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from aggregation.clock import SimulatedClock
from aggregation.protocol.windows import Unit
from tests.faults.account import Account
from tests.faults.parts import parts_of_a_system
from tests.faults.scenario import Scenario, a_window
from tests.faults.stores import Postgresql, Sqlite
from tests.faults.table import Table
from tests.faults.world import World
from tests.journeys.world import next_monday

SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "tests.privacy.without_noise_settings",
    "MAYFLY_CLOCK": "simulated",
    "MAYFLY_HEARTBEAT_SECONDS": "0.5",
    "MAYFLY_SNAPSHOT_SECONDS": "0.2",
    "MAYFLY_SESSION_LAPSE_SECONDS": "2",
    "MAYFLY_DRAIN_SECONDS": "20",
}
# In this order, store by store: the last ones need what the others have left.
ORDER = (
    "test_sending", "test_sessions", "test_parts", "test_releases", "test_postgresql", "test_time",
    "test_afterwards",
)  # fmt: skip

Fault = Callable[..., Account]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Table(), "table of faults")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "world" in metafunc.fixturenames:
        full = metafunc.config.getoption("--size") == "full"
        stores = ["postgresql"] if full else getattr(metafunc.module, "STORES", ["sqlite"])
        metafunc.parametrize("world", stores, indirect=True, scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: at for at, name in enumerate(ORDER)}
    ours = sorted(
        (item for item in items if item.path.parent == Path(__file__).parent),
        key=lambda item: (_store_of(item) == "postgresql", places.get(item.path.stem, 0)),
    )
    rest = iter(ours)
    items[:] = [next(rest) if item in ours else item for item in items]


def _store_of(item: pytest.Item) -> str:
    return str(item.callspec.params.get("world")) if hasattr(item, "callspec") else ""


@pytest.fixture
def full(size: str) -> bool:
    return size == "full"


@pytest.fixture(scope="session")
def world(
    request: pytest.FixtureRequest, prepared_data: Path, tmp_path_factory: pytest.TempPathFactory,
    size: str,
) -> Iterator[World]:  # fmt: skip
    data = tmp_path_factory.mktemp("faults") / "data"
    data.mkdir()
    SimulatedClock(data / "clock.json").start(next_monday() + timedelta(hours=11.5), speed=0)
    store = Postgresql() if request.param == "postgresql" else Sqlite(data / "mayfly.sqlite3")
    with parts_of_a_system(data, prepared_data, store, **SETTINGS) as parts:
        world = World(parts)
        most = 500 if size == "full" else 300
        world.run_task("faults", Unit.DAY, grace_hours=6, most=most)
        parts.start_front_end("web", parts.port)
        parts.start_others()
        parts.start_worker()
        yield world


@pytest.fixture
def fault(world: World, request: pytest.FixtureRequest) -> Fault:
    """Run one: a window in which `act` does harm. Gives its account, which is in the table."""

    def run(name: str, act: Any, phones: int, *given: Any, **how: Any) -> Account:
        async def whole() -> Scenario:
            async with a_window(world, name, phones, **how) as scenario:
                await act(scenario, *given)
            return scenario

        try:
            scenario = asyncio.run(whole())
        except BaseException:
            world.parts.mend()  # else all that follow would fail with it
            raise
        account = scenario.account
        request.node.user_properties.append(("account", account))
        account.check_once() if scenario.has_expired else account.check()
        return account

    return run
