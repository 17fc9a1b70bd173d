"""A mechanism's parameters for a task, fitted where the proxy data is."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from aggregation.calibration.fitting import NAMES
from aggregation.calibration.weighing import LEAST_DEVICES
from aggregation.errors import Problem
from aggregation.protocol.streams import Catalog
from portal.lab.calibrating.loading import LONGEST
from portal.lab.calibrating.parameters import checked_epsilon, named_spec
from portal.lab.calibrating.recorded import calibrate_events
from portal.lab.calibrating.simulated import calibrate
from portal.lab.calibrating.world import catalog
from portal.lab.pieces import cores
from portal.streams.selectors import installed_catalog


class Command(BaseCommand):
    help = (
        "Fit a task's mechanism on the made-up world, or on a file of proxy events, and print the "
        "parameters with where they come from, as JSON to load in the lab. It neither reads nor "
        "writes the portal's database. About five minutes for a million devices."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--task", required=True, help="a starting point's name, or the file of a spec")
        add("--epsilon", type=float, help="instead of the task's own")
        add("--fit", choices=NAMES, default="rotated", help="which mechanism (default rotated)")
        add("--events", type=Path, help="a .csv or .parquet of events; else the made-up world")
        add("--kind", choices=["public", "declared proxy"], help="what the events are")
        add("--source", help="what the events are, in a sentence for the reviewer")
        add("--window", help="the window of the events to use (default: the fullest)")
        add("--least-devices", type=int, default=LEAST_DEVICES, help="of a cell that counts (2000)")
        add("--devices", type=int, default=1_000_000, help="of the world (default 1000000)")
        add("--per-region", type=int, default=10_000, help="phones in a region (default 10000)")
        add("--processes", type=int, default=cores(), help="that ask the devices")
        add("--seed", type=int, default=1, help="another one is another world of the same kind")

    def handle(self, *args: Any, **options: Any) -> None:
        found = _recorded(options) if options["events"] else _simulated(options)
        print(json.dumps(found, indent=2, ensure_ascii=False))


def _simulated(options: dict[str, Any]) -> dict[str, Any]:
    parameters = {name: options[name] for name in ("devices", "per_region", "seed", "fit")}
    spec = _spec_text(options["task"])
    parameters |= {"task": spec, "epsilon": options["epsilon"]}
    return calibrate(parameters, progress=_told, processes=options["processes"])


def _recorded(options: dict[str, Any]) -> dict[str, Any]:
    if not options["kind"] or not options["source"]:
        raise Problem(
            "Proxy events need --kind and --source: whoever reviews the numbers sees them.",
            hint="For instance --kind public --source 'National travel survey 2023'.",
        )
    if len(options["source"]) > LONGEST:
        raise Problem(f"--source is a sentence of at most {LONGEST} characters.")
    return calibrate_events(
        options["events"],
        named_spec(_spec_text(options["task"])),
        _catalog(),
        kind=options["kind"],
        source=options["source"],
        fit=options["fit"],
        epsilon=checked_epsilon(options["epsilon"]),
        window_id=options["window"],
        least_devices=options["least_devices"],
        watch=_told,
        processes=options["processes"],
    ).plain()


def _spec_text(task: str) -> str:
    path = Path(task)
    if path.suffix not in (".yaml", ".yml", ".json"):
        return task
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"The spec {task} cannot be read: {error}.") from None


def _catalog() -> Catalog:
    """The streams installed here, or those that ship."""
    try:
        return installed_catalog()
    except Problem:
        return catalog()


def _told(share: float) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{share:4.0%} ")
        sys.stderr.flush()
