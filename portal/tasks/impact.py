"""What a revision means for people's privacy, beside what was approved before it."""

from dataclasses import dataclass

from portal.ledger.amounts import in_words
from portal.tasks.models import Revision
from portal.tasks.planning import runs_once
from portal.tasks.reading import Documents

# Windows of a unit that one civil week can overlap, at most.
_A_WEEK = {"hour": 168, "day": 7, "week": 1, "month": 2}


@dataclass(frozen=True)
class Fact:
    name: str
    before: str
    after: str
    # More is learnt of a person, or of smaller groups, than before.
    weaker: bool = False

    @property
    def changed(self) -> bool:
        return bool(self.before) and self.before != self.after


def impact(before: Revision | None, after: Revision) -> list[Fact]:
    old = _numbers(before) if before else {}
    new = _numbers(after)
    shown_old = _shown(before) if before else {}
    return [
        Fact(
            name=name,
            before=shown_old.get(name, ""),
            after=value,
            weaker=name in old and new.get(name, 0) > old[name],
        )
        for name, value in _shown(after).items()
    ]


def _shown(revision: Revision) -> dict[str, str]:
    documents = Documents(revision)
    task, config = documents.client_task, documents.server_config
    keys = ", ".join(f"{key.name} ({key.count:,})" for key in task.keys)
    sizes = config.aggregation
    a_week = 1 if runs_once(revision) else _A_WEEK[revision.window_unit]
    weekly = a_week * revision.epsilon
    return {
        "ε per window": in_words(revision.epsilon),
        "ε per week, at most": in_words(weekly),
        "Window": f"{revision.window_unit}, {config.grace_hours} hours of grace",
        "Streams": ", ".join(revision.streams),
        "Population": ", ".join(task.populations),
        "Keys": keys or "none",
        "Cells": f"{task.cells:,}",
        "Metrics": ", ".join(task.metrics),
        "Rows of a device, at most": f"{task.max_rows:,}",
        "Devices in a sum at rest, at least": f"{sizes.min_contributions:,}",
        "Suppressed above a noise of": f"{100 * config.suppression.max_relative_noise:g} %",
        "Audience": config.audience,
    }


def _numbers(revision: Revision) -> dict[str, float]:
    """What is comparable, so that more means that more is learnt."""
    documents = Documents(revision)
    config = documents.server_config
    return {
        "ε per window": revision.epsilon,
        "ε per week, at most": revision.epsilon,
        "Cells": documents.client_task.cells,
        "Rows of a device, at most": config.max_rows,
        "Devices in a sum at rest, at least": -config.aggregation.min_contributions,
        "Suppressed above a noise of": config.suppression.max_relative_noise,
        "Audience": float(config.audience == "public"),
    }
