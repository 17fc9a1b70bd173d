"""A made-up fleet and the real system through weeks, as fast as they go; then what came of it."""

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from devices_sim.fleet.scenario import load_scenario
from devices_sim.simulation.plan import TASKS, Plan, checked_size, first_moment, usable_folder
from devices_sim.simulation.progress import Progress
from devices_sim.simulation.run import simulate
from devices_sim.simulation.soak import soak


class Command(BaseCommand):
    help = (
        "Simulate phones and the real system, with processes, a data folder and a clock of their "
        "own, as fast as they go. At the end: reach, errors against the truth, double counts "
        "(there must be none), losses, cost and memory. `make run MAYFLY_DATA=DIR` then shows it."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--devices", type=int, help="so many phones instead of the scenario's")
        add("--weeks", type=int, default=1, help="weeks to collect and release (default 1)")
        add("--scenario", default="world", help="one that ships, or the path of a file")
        add("--seed", type=int, help="another one is another world of the same kind")
        add("--data", type=Path, help="a new folder that stays; else all is removed at the end")
        add("--json", action="store_true", help="the report as JSON")
        add(
            "--tasks",
            nargs="+",
            choices=list(TASKS),
            default=["weekly-trips"],
            help="what is asked of phones (default: weekly-trips)",
        )
        add(
            "--processes",
            type=int,
            default=os.cpu_count() or 1,
            help="that phones live in (default: one for each core)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        checked_size(
            devices=options["devices"], weeks=options["weeks"], processes=options["processes"]
        )
        given = {"phones": options["devices"], "seed": options["seed"]}
        changed = {name: value for name, value in given.items() if value is not None}
        scenario = load_scenario(options["scenario"], **changed)
        with _folder(options["data"]) as data, _ended_by_signals():
            plan = Plan(
                scenario=scenario,
                weeks=options["weeks"],
                data=data,
                tasks=() if scenario.soak else _tasks(options["tasks"]),
                processes=options["processes"],
                port=_free_port(),
                start=first_moment(datetime.now(UTC)),
            )
            run = soak if scenario.soak else simulate
            result = run(plan, Progress(start=plan.start, end=plan.end))
        print(result.json() if options["json"] else "\n".join(result.lines()))
        if result.failures():
            raise SystemExit(1)


def _tasks(wanted: list[str]) -> tuple[str, ...]:
    return tuple(task for task in TASKS if task in wanted)


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """Kept if it was asked for and the simulation came to its end."""
    folder = usable_folder(wanted) if wanted else Path(tempfile.mkdtemp(prefix="mayfly-simulate-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if wanted is None:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM as Ctrl-C: everything that was started is stopped on the way out.

    Both are asked for: a shell's background job would otherwise not hear of SIGINT.
    """

    def leave(*_: object) -> None:
        raise KeyboardInterrupt

    before = {each: signal.signal(each, leave) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
