"""Children that cannot be started just now."""

import asyncio
from pathlib import Path

from portal.supervisor.children import Child
from tests.parts import eventually


def test_a_child_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    """As on a machine that has no memory or no process left for a moment."""
    program, said = tmp_path / "program", []
    child = Child("part", [str(program)], lambda _, line: said.append(line))

    async def story() -> None:
        running = asyncio.create_task(child.keep_running())
        await asyncio.to_thread(eventually, lambda: said)
        program.write_text("#!/bin/sh\nexec sleep 60\n")
        program.chmod(0o755)
        await asyncio.to_thread(eventually, lambda: child.pid)
        await child.stop(within=1)
        await running

    asyncio.run(story())
    assert said[0].startswith("part cannot be started (No such file or directory)")
