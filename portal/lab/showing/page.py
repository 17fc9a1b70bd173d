"""What the page of a study shows beside its state."""

from typing import Any

from portal.lab.models import Study
from portal.lab.showing.comparison import Shown

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
        (_LABELS.get(name, name.replace("_", " ").capitalize()), _words(value))
        for name, value in study.parameters.items()
    ]


def shown(study: Study) -> dict[str, Any]:
    """What the template of its kind needs; nothing while there is no result."""
    if study.result is None:
        return {}
    if study.kind == Study.Kind.COMPARISON:
        return {"comparison": Shown(study.result)}
    return {study.kind: study.result}


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
