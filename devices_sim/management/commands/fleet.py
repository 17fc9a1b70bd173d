"""Many phones over real HTTP: those of a made-up world, or one for each device of a data set."""

import asyncio
import os
import signal
from argparse import ArgumentTypeError
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import uvloop
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from aggregation.clock import Clock, SimulatedClock, SystemClock
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from devices_sim.fleet import resting
from devices_sim.fleet.driver import Driver, settle_memory
from devices_sim.fleet.event_file import read_events
from devices_sim.fleet.living import LivingFleet
from devices_sim.fleet.portal import parts_at
from devices_sim.fleet.recording import Recording
from devices_sim.fleet.replay import Replay, weeks_to_move
from devices_sim.fleet.scenario import load_scenario
from devices_sim.fleet.world import World

_say = partial(print, flush=True)


class Command(BaseCommand):
    help = (
        "Run phones: with --scenario those of a made-up world, until stopped; with --events one "
        "for each device of a recorded data set. Such a file has the columns device, time, those "
        "of the stream, and utc_offset (seconds) if local time matters. Device ids never leave "
        "this command."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--scenario", help="one that ships, by its name, or the path of a file")
        what.add_argument("--events", type=Path, help="a .parquet or .csv file")
        add("--url", default=settings.PUBLIC_URL, help="where the portal is")
        add("--phones", type=int, help="so many instead of the scenario's")
        add("--seed", type=int, help="of the scenario, or of the moments of a replay")
        add("--stream", help="the stream the events are of")
        add("--population", default="all", help="of all phones of a replay")
        add(
            "--keep-times",
            action="store_true",
            help="replay at the recorded times; else events move by whole weeks into the future",
        )
        add("--speed", type=_speed, help="of the portal's simulated clock, during a replay")
        add(
            "--linger-days",
            type=_days,
            default=8,
            help="civil days after a replay's last week for late windows (default 8)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        catalog = Catalog.open(Path(settings.DATA) / "streams")
        if options["scenario"]:
            _run(_live(catalog, options))
            return
        if not options["stream"]:
            raise Problem("The events are of some stream.", hint="Name it with --stream.")
        recording = read_events(options["events"], options["stream"], catalog)
        with _civil_clock(options["speed"]) as (clock, run_clock):
            _run(_replay(recording, catalog, clock, run_clock, options))


async def _live(catalog: Catalog, options: dict[str, Any]) -> None:
    os.nice(5)  # the server comes first
    changed = {k: v for k in ("phones", "seed") if (v := options[k]) is not None}
    scenario = load_scenario(options["scenario"], **changed)
    clock: Clock = SystemClock()
    if settings.CLOCK == "simulated":
        clock = SimulatedClock(settings.CLOCK_FILE)
    place = resting.place_of(Path(settings.DATA) / "phones", scenario, options["url"])
    rested = resting.take(place)
    start = rested.start if rested else clock.now().timestamp()
    world = World(scenario, catalog, epoch=start)
    rng = Random(scenario.seed)  # noqa: S311 - wake-ups are no secret
    async with parts_at(
        options["url"], catalog=catalog, clock=clock, rng=rng, patient=True
    ) as parts:
        whence = "as they were when they stopped" if rested else "all of them new installs"
        _say(f"{world.phones:,} phones of the scenario {scenario.name}, {whence}")
        fleet = LivingFleet(world, parts, start=start, say=_say)
        fleet.resume(rested.phones if rested else ())
        settle_memory()
        fleet.begin()
        try:
            await _told(fleet)
        finally:
            _keep(resting.Rest(start, fleet.lives.at_rest()), place)


def _keep(rest: resting.Rest, place: Path) -> None:
    try:
        resting.keep(rest, place)
    except OSError as error:
        _say(f"The phones could not be kept ({error.strerror}): they will be new installs.")


async def _replay(
    recording: Recording,
    catalog: Catalog,
    clock: Clock,
    run_clock: Callable[[], None],
    options: dict[str, Any],
) -> None:
    now = clock.now().timestamp()
    weeks = 0 if options["keep_times"] else weeks_to_move(recording.first, now)
    moved = f", moved by {weeks} weeks" if weeks else ""
    _say(f"{recording.devices:,} devices, {len(recording):,} events{moved}")
    rng = Random(options["seed"] or 1)  # noqa: S311 - wake-ups are no secret
    async with parts_at(options["url"], catalog=catalog, clock=clock, rng=rng) as parts:
        replay = Replay(
            recording,
            parts,
            stream=options["stream"],
            population=options["population"],
            weeks_moved=weeks,
            linger_days=options["linger_days"],
            say=_say,
        )
        run_clock()
        await _told(replay)


async def _told(fleet: Driver) -> None:
    """Run it, and tell what it did, also when it is stopped early."""
    try:
        await fleet.run()
    finally:
        for line in fleet.report.lines():
            _say(line)


def _run(fleet: Coroutine[Any, Any, None]) -> None:
    """Until it ends, or until Ctrl-C or SIGTERM, which end it in good order."""

    async def stoppable() -> None:
        running, loop = asyncio.ensure_future(fleet), asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # Not where a thread runs this, as a test may.
            with suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, running.cancel)
        with suppress(asyncio.CancelledError):
            await running

    uvloop.run(stoppable())


@contextmanager
def _civil_clock(speed: float | None) -> Iterator[tuple[Clock, Callable[[], None]]]:
    """The portal's: the machine's, or the simulated one in the data folder; and what lets it run.

    With a speed given, it stands still until all phones have started: none misses a week's begin.
    """
    if settings.CLOCK != "simulated":
        if speed is not None:
            raise Problem(
                "--speed is for a simulated clock, and this portal uses the machine's.",
                hint="Start the portal and this command with MAYFLY_CLOCK=simulated.",
            )
        yield SystemClock(), lambda: None
        return
    clock = SimulatedClock(settings.CLOCK_FILE)
    before = clock.speed
    if not before and not speed:
        raise Problem(
            "The portal's clock stands still, so no window would ever end.",
            hint="Let it run while this does, such as a week a minute: --speed 10080.",
        )
    if not speed:
        yield clock, lambda: None
        return
    clock.set_speed(0)
    try:
        yield clock, lambda: clock.set_speed(speed)
    finally:
        clock.set_speed(before)


def _speed(text: str) -> float:
    try:
        if 0 < (speed := float(text)) <= 1e7:
            return speed
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text!r} is not a speed; 1 is real time, 10080 a week a minute")


def _days(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 366:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number of days, 0 to 366")
