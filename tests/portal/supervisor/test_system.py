"""What the supervisor does beside its children."""

import asyncio
from pathlib import Path
from typing import Any

from portal.supervisor import system
from tests.parts import eventually


def test_the_clock_is_marked_again_after_a_disk_that_took_nothing(
    settings: Any, tmp_path: Path
) -> None:
    """Else a crash hours later would set the time back to that moment."""
    settings.CLOCK, settings.CLOCK_FILE = "simulated", tmp_path / "clock.json"
    mark = tmp_path / "clock.alive"
    mark.mkdir()
    system._mark_clock()

    async def story() -> None:
        marking = asyncio.create_task(system._keep_clock_alive())
        await asyncio.sleep(0)
        mark.rmdir()
        await asyncio.to_thread(eventually, mark.exists, within=10)
        marking.cancel()

    asyncio.run(story())
    assert list(tmp_path.iterdir()) == [mark]
