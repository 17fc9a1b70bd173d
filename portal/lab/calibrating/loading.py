"""A calibration's result as a document: read, checked, and held against a task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from aggregation.calibration.fitting import NAMES
from aggregation.errors import Problem
from aggregation.mechanisms import problems
from aggregation.protocol.anonymization import BudgetSplit, GroupScaling, Mechanism, Rotated
from aggregation.protocol.ranks import DomainOf
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.unseen import TOLD, unseen_in_prose
from portal.lab.calibrating.provenance import Fitted, Provenance

_MOST_BYTES = 2_000_000
# Of a name or a sentence in a result.
LONGEST: Final = 300
# More than any honest number of a provenance: distances, devices, seeds.
_LARGEST: Final = 1e12
_UNREADABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_HINT = "Load what `manage.py calibrate` printed, whole and unchanged."


def load_result(text: str | bytes) -> tuple[Mechanism, Provenance]:
    """The mechanism and where it comes from; what is malformed is a `Problem`."""
    found = load_fitted(text)
    return found.mechanism, found.provenance


def load_fitted(text: str | bytes) -> Fitted:
    if len(text) > _MOST_BYTES:
        raise Problem("This is too long for a calibration's result.", hint=_HINT)
    try:
        found = msgspec.json.decode(text, type=Fitted)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Problem(f"This is no calibration's result: {error}.", hint=_HINT) from None
    for sentence in _faults(found):
        raise Problem(sentence, hint=_HINT)
    return found


def refuse_unseen(found: Fitted) -> None:
    """A reviewer reads where numbers come from. Asked when a result is loaded, not of those that
    are here already."""
    for text in _texts(found.plain()):
        for unseen in unseen_in_prose(text):
            raise Problem(f"{unseen.name} stands in {text[:40]!r}. {TOLD}", hint="Remove it.")


def misfits(found: Fitted, config: ServerConfig, domain_of: DomainOf) -> Iterator[str]:
    """Why this result cannot be used for a task: sentences, none if it can."""
    keys = tuple((key.name, key.domain) for key in config.keys)
    if [name for name, _ in found.keys] != [name for name, _ in keys]:
        yield f"It was fitted for the keys {_listed(found.keys)}, the task has {_listed(keys)}."
    elif found.keys != keys:
        yield "It was fitted over other values of the same keys."
    elif found.metrics != config.metrics:
        mine, theirs = ", ".join(found.metrics), ", ".join(config.metrics)
        yield f"It was fitted for the metrics {mine}, the task has {theirs}."
    else:
        for finding in problems(found.mechanism, config.keys, config.metrics, domain_of):
            yield finding.message
    if found.provenance.epsilon != float(config.epsilon):
        yield f"It was fitted for ε = {found.provenance.epsilon:g}, the task has {config.epsilon}."


def _listed(keys: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(name for name, _ in keys) or "none"


def _faults(found: Fitted) -> Iterator[str]:
    """What a type cannot say."""
    told = found.provenance
    if not all(0 <= number < _LARGEST for number in _numbers(told)) or told.epsilon <= 0:
        yield "A number of its provenance is out of range."
    if not re.fullmatch(r"[0-9a-f]{64}", told.data_sha256):
        yield "The hash of its data is no SHA-256."
    if set(told.quality.by_metric) != set(found.metrics):
        yield "Its fit quality is for other metrics than its own."
    if not _is_whole(found):
        yield "Its parameters do not cover all its metrics, or all its slices."
    if told.fit not in NAMES:
        yield f"There is no fit {told.fit[:40]!r}."
    if not told.source:
        yield "It does not say what it was fitted on."
    if not re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d)?", told.window):
        yield f"{told.window[:40]!r} is no window."
    try:
        datetime.fromisoformat(told.date)
    except ValueError:
        yield f"{told.date[:40]!r} is no date."
    for text in _texts(found.plain()):
        if len(text) > LONGEST:
            yield f"A name or sentence in it is longer than {LONGEST} characters."
        elif _UNREADABLE.search(text):
            yield f"There is a character that nobody can read in {text[:40]!r}."


def _is_whole(found: Fitted) -> bool:
    """Whether pages can show it: what it is worth for a task is for `misfits` to say."""
    match found.mechanism:
        case GroupScaling(scales=scales) | BudgetSplit(scales=scales):
            return all(set(row) == set(found.metrics) for row in scales.values())
        case Rotated(basis=basis, correction=correction):
            return set(basis) == set(correction)
    return True


def _numbers(told: Provenance) -> Iterator[float]:
    quality = told.quality
    yield from (told.epsilon, told.devices, told.seed or 0)
    yield from (quality.mean, quality.best_scaling, quality.least_devices)
    yield from quality.by_metric.values()
    for row in told.per_event.values():
        yield from row.values()


def _texts(value: Any) -> Iterator[str]:
    """All there are in plain values, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))
