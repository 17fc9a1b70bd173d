"""Scenarios: what kind of world a fleet lives in, as small TOML files that read like a story."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import asdict

from aggregation.errors import Problem
from aggregation.protocol.shipped import ACTIVITIES
from devices_sim.fleet.bad_updates import KINDS

FOLDER: Final = Path(__file__).parent.parent / "scenarios"


class Consents(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shares of people who agree to each stream."""

    trips: float = 1.0
    assistant: float = 1.0


class UnusualShares(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shares of phones to which something unusual happens."""

    # Installed after the scenario's first moment, within its horizon.
    new: float = 0.0
    # Without any network for one to four weeks.
    offline: float = 0.0
    # A clock that is minutes to days away from civil time.
    wrong_clock: float = 0.0
    # Wiped and installed again at some moment.
    reinstalled: float = 0.0
    # Stops in the middle of an upload, now and then.
    crashing: float = 0.0
    # Forgets each time what it has sent, and sends it again: breaks the once-only rule on purpose.
    forgetful: float = 0.0


class Outage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The network of a country is down."""

    country: str
    # Hours from the start of week 0, the first that begins at or after the scenario's epoch.
    start_hours: float
    hours: float


class Habits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much more, or less, people travel than they usually do: factors, 1 is as usual."""

    commuting: float = 1.0
    # Tours to somewhere far away, over land and by air.
    far: float = 1.0
    # Tours by activity, the way to work apart.
    leisure: dict[str, float] = {}


class Holiday(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weeks in which people of some countries, or of all, have other habits."""

    weeks: tuple[int, ...]
    countries: tuple[str, ...] = ()
    habits: Habits = Habits()


class Hostile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Phones that send what no honest phone sends."""

    share: float = 0.0
    # Kinds of bad updates, each as likely as the others; see `bad_updates`.
    kinds: tuple[str, ...] = ()


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    description: str
    seed: int
    phones: int
    # GeoNames ids with how many people live there compared with each other; or all regions by
    # their population.
    places: dict[str, float] | Literal["world"]
    consents: Consents = Consents()
    # Moments of background time a phone has in a week at most: the first and the last of those
    # it would have. 0: all of them.
    most_wake_ups: int = 0
    # What is unusual about phones happens within so many weeks of the scenario's first moment.
    horizon_weeks: int = 8
    # `simulate` has people work with tasks through the weeks, and accounts for all of it.
    soak: bool = False
    habits: Habits = Habits()
    holidays: tuple[Holiday, ...] = ()
    unusual: UnusualShares = UnusualShares()
    outages: tuple[Outage, ...] = ()
    hostile: Hostile = Hostile()


def load_scenario(name: str, **overrides: Any) -> Scenario:
    """A scenario that ships, by its name, or any, by the path of its file."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(f"There is no scenario {name!r}.", hint=_shipped_like(name)) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Problem(f"The scenario {path.name} cannot be read: {error}") from None
    document.setdefault("name", path.stem)
    return scenario_of({**document, **overrides})


def scenario_of(document: dict[str, Any]) -> Scenario:
    """Checked; the first thing that is wrong is a `Problem`."""
    _refuse_unknown(document, Scenario, "")
    try:
        scenario = msgspec.convert(document, Scenario)
    except msgspec.ValidationError as error:
        raise Problem(f"The scenario does not fit: {error}.") from None
    for sentence in _misfits(scenario):
        raise Problem(sentence)
    return scenario


def scenario_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def _shipped_like(name: str) -> str:
    near = difflib.get_close_matches(name, scenario_names(), n=1)
    return f"Did you mean {near[0]}?" if near else f"There are {', '.join(scenario_names())}."


PARTS: Final[dict[str, type[msgspec.Struct]]] = {
    "consents": Consents,
    "habits": Habits,
    "holidays": Holiday,
    "unusual": UnusualShares,
    "outages": Outage,
    "hostile": Hostile,
}


def _refuse_unknown(document: Any, kind: type[msgspec.Struct], where: str) -> None:
    """Unknown names first and everywhere, with the nearest known one: most are misspelt."""
    for name, value in document.items() if isinstance(document, dict) else ():
        known = kind.__struct_fields__
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else f"It knows {', '.join(known)}."
            raise Problem(f"A scenario knows no {where}{name}.", hint=hint)
        for part in value if isinstance(value, list) else [value]:
            if name in PARTS:
                _refuse_unknown(part, PARTS[name], f"{where}{name}.")


def _misfits(scenario: Scenario) -> Iterator[str]:
    if scenario.phones < 1:
        yield f"A scenario has at least one phone, not {scenario.phones}."
    if not 0 <= scenario.seed < 2**63:
        yield f"The seed is a whole number from 0 to 2⁶³, not {scenario.seed}."
    if scenario.most_wake_ups not in (0, 1, 2):
        yield f"most_wake_ups is 0, 1 or 2, not {scenario.most_wake_ups}."
    if not 1 <= scenario.horizon_weeks <= 104:
        yield f"horizon_weeks is from 1 to 104, not {scenario.horizon_weeks}."
    if isinstance(scenario.places, dict):
        weights = scenario.places.values()
        if not weights or not all(0 < weight < math.inf for weight in weights):
            yield "The places are GeoNames ids, each with a weight above 0."
    if scenario.hostile.share and not scenario.hostile.kinds:
        yield "Hostile phones need kinds: what they send."
    for kind in scenario.hostile.kinds:
        if kind not in KINDS:
            yield f"{kind!r} is no kind of bad update: there are {', '.join(sorted(KINDS))}."
    for outage in scenario.outages:
        if not (math.isfinite(outage.start_hours) and 0 < outage.hours < math.inf):
            yield f"The outage of {outage.country} starts at some hour and lasts some."
    yield from _share_misfits(scenario)
    for habits in (scenario.habits, *(holiday.habits for holiday in scenario.holidays)):
        yield from _habit_misfits(habits)


def _share_misfits(scenario: Scenario) -> Iterator[str]:
    shares = {**asdict(scenario.consents), **asdict(scenario.unusual)}
    for name, share in {**shares, "hostile.share": scenario.hostile.share}.items():
        if not 0 <= share <= 1:
            yield f"{name} is a share from 0 to 1, not {share}."


def _habit_misfits(habits: Habits) -> Iterator[str]:
    for name in habits.leisure:
        if name not in ACTIVITIES:
            yield f"{name!r} is no activity: there are {', '.join(map(str, ACTIVITIES))}."
    for name, factor in {**asdict(habits), **habits.leisure, "leisure": 1}.items():
        if not 0 <= factor <= 100:
            yield f"The factor of {name} is from 0 to 100, not {factor}."
