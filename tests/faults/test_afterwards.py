"""After all faults: nothing of a phone is left anywhere, and nothing has grown."""

from pathlib import Path

import pytest

from tests.faults.sweeping import Wanted, sweep
from tests.faults.world import World
from tests.privacy.canary import spellings

pytestmark = pytest.mark.solo
STORES = ["sqlite", "postgresql"]
MOST_GROWTH_MB = 100


def test_nothing_of_a_phone_is_left_anywhere(world: World, request: pytest.FixtureRequest) -> None:
    """What marked phones sent is in no file, table, log or queue."""
    assert world.secrets, "This looks at what the faults before have left: run it with them."
    folders: tuple[Path, ...] = (world.parts.data, *world.parts.store.folders)
    found = sweep(folders, world.parts.queue, world.secrets)
    request.node.user_properties.append(
        ("canaries", {fault: len(places) for fault, places in found.items()})
    )
    assert not any(found.values()), found


def test_a_sweep_finds_what_is_there(world: World) -> None:
    """Every spelling, wherever it stands; else its silence would say nothing."""
    wanted = Wanted(world.secrets)
    for fault, secrets in world.secrets.items():
        for spelling in (each for secret in secrets[:2] for each in spellings(secret)):
            assert fault in wanted.in_(b"x" + spelling + b"y")
            assert fault in wanted.in_(bytes(10) + spelling)
    assert wanted.in_(bytes(1000)) == set()


def test_memory_is_flat(world: World) -> None:
    """Of what lives through all faults. The first window makes caches warm, and is left out."""
    grown = sum(account.growth_mb for account in world.accounts[1:])
    assert grown < MOST_GROWTH_MB, world.accounts
