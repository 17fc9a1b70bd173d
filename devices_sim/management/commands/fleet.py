"""Replay a data set through phones: each device id becomes one, over real HTTP."""

import asyncio
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from aggregation.clock import Clock, SimulatedClock, SystemClock
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from devices_sim.fleet.event_file import read_events
from devices_sim.fleet.replay import replay, weeks_to_move


class Command(BaseCommand):
    help = (
        "Replay recorded events as if each device id were a phone. The file has the columns "
        "device, time, those of the stream, and utc_offset (seconds) if local time matters. "
        "Device ids never leave this command."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--events", required=True, type=Path, help="a .parquet or .csv file")
        add("--stream", required=True, help="the stream the events are of")
        add("--url", default=settings.PUBLIC_URL, help="where the portal is")
        add("--population", default="all", help="of all these phones")
        add(
            "--keep-times",
            action="store_true",
            help="replay at the recorded times; else events move by whole weeks into the future",
        )
        add("--speed", type=_speed, help="of the portal's simulated clock, while this runs")
        add(
            "--linger-days",
            type=_days,
            default=8,
            help="civil days after the last week for late windows (default 8)",
        )
        add("--seed", type=int, default=1, help="of the moments at which phones wake up")

    def handle(self, *args: Any, **options: Any) -> None:
        catalog = Catalog.open(Path(settings.DATA) / "streams")
        recording = read_events(options["events"], options["stream"], catalog)
        with _civil_clock(options["speed"]) as (clock, run_clock):
            now = clock.now().timestamp()
            weeks = 0 if options["keep_times"] else weeks_to_move(recording.first, now)
            moved = f", moved by {weeks} weeks" if weeks else ""
            print(f"{recording.devices:,} devices, {len(recording):,} events{moved}", flush=True)
            running = replay(
                recording,
                stream=options["stream"],
                url=options["url"],
                catalog=catalog,
                clock=clock,
                rng=Random(options["seed"]),  # noqa: S311 - wake-ups are no secret
                population=options["population"],
                weeks_moved=weeks,
                linger_days=options["linger_days"],
                say=partial(print, flush=True),
                installed=run_clock,
            )
            asyncio.run(running)


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
