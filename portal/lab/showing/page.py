"""What the page of a study shows beside its state."""

import re
from typing import Any

from portal.lab.models import Study
from portal.lab.showing.calibration import Calibration
from portal.lab.showing.comparison import NAMES, Shown

_LABELS = {
    "phones": "Phones",
    "devices": "Devices to fit on",
    "seed": "Seed",
    "seeds": "Seeds",
    "epsilon": "ε",
    "epsilons": "ε",
    "people": "People",
    "mechanisms": "Mechanisms",
}


def asked(study: Study) -> list[tuple[str, str]]:
    """The parameters as words."""
    return [
        (_LABELS.get(name, name.replace("_", " ").capitalize()), _words(name, value))
        for name, value in study.parameters.items()
        if value is not None
    ]


def both(first: Study, second: Study) -> list[tuple[str, str, str]]:
    """The parameters of two studies by name; a loaded one was asked in other words."""
    left, right = dict(asked(first)), dict(asked(second))
    names = dict.fromkeys([*left, *right])
    return [(name, left.get(name, "–"), right.get(name, "–")) for name in names]


def took(study: Study) -> str:
    """How long it ran; nothing for one that did not, or still does."""
    if study.started_at is None or study.ended_at is None:
        return ""
    minutes, seconds = divmod(round((study.ended_at - study.started_at).total_seconds()), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def shown(study: Study) -> dict[str, Any]:
    """What the template of its kind needs; nothing while there is no result."""
    if study.result is None:
        return {}
    if study.kind == Study.Kind.COMPARISON:
        return {"comparison": Shown(study.result)}
    if study.kind == Study.Kind.CALIBRATION:
        return {"calibration": Calibration(study.result)}
    return {study.kind: study.result}


def _words(name: str, value: Any) -> str:
    if isinstance(value, list):
        between = "; " if name == "mechanisms" else ", "
        return between.join(_words(name, one) for one in value)
    if name == "task":
        return _name_in(value)
    if name in ("seed", "seeds"):  # no quantity: it is typed again as it stands
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NAMES.get(str(value), str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _name_in(task: str) -> str:
    """Of a whole spec, its name."""
    found = re.search(r"^[\s{\"]*name\"?:\s*\"?([\w-]+)", task, re.MULTILINE)
    return found[1] if found else task[:64]
