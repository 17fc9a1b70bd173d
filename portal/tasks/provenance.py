"""Where the parameters of a mechanism come from, for whoever decides on them.

ε covers what devices send. Parameters fitted on proxy data lie outside it, so the reviewer has to
know which data that was; parameters without a provenance were typed by hand.
"""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec

from aggregation.clock import Clock
from aggregation.protocol.anonymization import Mechanism
from aggregation.protocol.spec import decimal_text, with_decimals
from aggregation.protocol.spec_reading import read_spec
from portal.accounts.models import Person
from portal.tasks.drafting import note_editor
from portal.tasks.models import Provenance, Revision, Task
from portal.tasks.starting_points import starting_points

_LABELS = {
    "kind": "Data",
    "source": "Source",
    "made": "Made",
    "data_sha256": "Hash of the data",
    "seed": "Seed",
    "date": "Date",
    "devices": "Devices",
    "window": "Window",
    "epsilon": "Fitted for ε",
    "fit": "Fit",
    "quality": "Fit quality",
    "fit_quality": "Fit quality",
    "releases": "Releases",
}
# As studies note when they were made.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def mechanism_sha256(mechanism: Mechanism) -> str:
    """Of its one spelling: sorted fields, no spaces."""
    plain = with_decimals(mechanism, decimal_text)
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def note_provenance(
    *, task: Task, mechanism: Mechanism, facts: dict[str, Any], actor: Person, clock: Clock
) -> Provenance:
    """Of numbers that the actor has put into the task's draft. Its reviewer reads it, so it counts
    as writing, even where the very numbers were there before."""
    note_editor(task=task, person=actor, clock=clock)
    return Provenance.objects.create(
        mechanism_sha256=mechanism_sha256(mechanism),
        facts=facts,
        noted_by=actor,
        noted_at=clock.now(),
    )


def provenance_of(revision: Revision) -> Provenance | None:
    """What was last noted of the mechanism that this revision froze, or is shipped with it.

    What somebody notes after it was submitted is of the next one: nothing that a reviewer reads
    changes under their eyes, or once they have signed.
    """
    digest = mechanism_sha256(read_spec(revision.spec_text).anonymization.mechanism)
    rows = Provenance.objects.filter(mechanism_sha256=digest, noted_at__lte=revision.submitted_at)
    return rows.select_related("noted_by").first() or _shipped(digest)


def _shipped(digest: str) -> Provenance | None:
    """Of a starting point's own numbers: nobody noted it, so there is no row."""
    facts = _shipped_facts().get(digest)
    return Provenance(mechanism_sha256=digest, facts=facts) if facts else None


@cache
def _shipped_facts() -> dict[str, dict[str, Any]]:
    return {
        mechanism_sha256(point.spec.anonymization.mechanism): point.provenance
        for point in starting_points()
        if point.provenance
    }


def in_words(provenance: Provenance) -> list[tuple[str, str]]:
    """The facts as lines. What each slice has per event is for programs."""
    facts = dict(provenance.facts)
    if facts.get("seed") is not None:  # no quantity: it is typed again as it stands
        facts["seed"] = str(facts["seed"])
    return [
        (label, words)
        for name, label in _LABELS.items()
        if (words := "; ".join(_words(facts.get(name))))
    ]


def _words(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict) and "best_scaling" in value:
        yield from _quality(value)
    elif isinstance(value, dict):
        for inner, held in value.items():
            yield from _words(held, f"{name} {inner.replace('_', ' ')}".strip())
    elif isinstance(value, list):
        for held in value:
            yield from _words(held, name)
    elif value is not None:
        yield f"{name} {_written(value)}".strip()


def _written(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4g}"
        case str() if _MOMENT.fullmatch(value):
            return f"{datetime.fromisoformat(value).astimezone(UTC):%Y-%m-%d %H:%M}"
    return str(value)


def _quality(quality: dict[str, Any]) -> Iterator[str]:
    """Expected weighted relative errors, of a fit on proxy data."""
    metrics = ", ".join(
        f"{name} {100 * share:.2f} %" for name, share in quality["by_metric"].items()
    )
    yield f"expected error {100 * quality['mean']:.2f} % ({metrics})"
    yield f"{100 * quality['best_scaling']:.2f} % with Group Scaling at its best clip"
    yield "on other people" if quality["on_others"] else "on the very people it was fitted on"
