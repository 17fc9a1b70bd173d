"""Specs to start from: real questions, each a whole task that compiles as it stands.

A file begins with two comments, its title and the question it answers; the rest is the document.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec

# The order in which they are offered: from the plain to the particular.
_ORDER = (
    "weekly-trips",
    "country-modal-split",
    "cycling-by-hour",
    "assistant-quality",
    "assistant-ratings",
    "trip-lengths",
    "daily-rush-hours",
)


@dataclass(frozen=True)
class StartingPoint:
    slug: str
    title: str
    # The question it answers, in a sentence.
    answers: str
    # The document, without its two comments.
    text: str
    # Where its parameters come from, as a calibration tells it; empty where nobody measured.
    provenance: dict[str, Any]

    @property
    def spec(self) -> Spec:
        return read_spec(self.text)


@cache
def starting_points() -> tuple[StartingPoint, ...]:
    return tuple(_read(slug) for slug in _ORDER)


def starting_point(slug: str) -> StartingPoint | None:
    return next((point for point in starting_points() if point.slug == slug), None)


def _read(slug: str) -> StartingPoint:
    text = (Path(__file__).parent / f"{slug}.yaml").read_text()
    title, answers, document = text.split("\n", 2)
    told = _provenances().get(slug, {})
    return StartingPoint(slug, title.removeprefix("# "), answers.removeprefix("# "), document, told)


@cache
def _provenances() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(
        (Path(__file__).parent / "provenance.json").read_text()
    )
    return found
