"""What differs between two specs: every parameter from → to."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from portal.tasks.models import Revision

_SQL = ("sql", "client_sql", "server_sql", "eligibility.sql")


@dataclass(frozen=True)
class Changed:
    """A field by its path in the spec; None where one side does not have it."""

    path: str
    before: Any
    after: Any

    @property
    def is_sql(self) -> bool:
        return self.path in _SQL


def changes_between(before: Revision | None, after: Revision) -> list[Changed]:
    """Every field that differs; everything the revision says if there is none before."""
    old = dict(_leaves(json.loads(before.spec_json))) if before else {}
    new = dict(_leaves(json.loads(after.spec_json)))
    paths = [*new, *(path for path in old if path not in new)]
    found = (Changed(path, old.get(path), new.get(path)) for path in paths)
    return [change for change in found if change.before != change.after]


def in_a_sentence(changes: list[Changed]) -> str:
    """For an error's message: queries by name, the rest from → to."""
    if not changes:
        return "its content is the same."
    words = [_words(change) for change in changes[:5]]
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
    return f"{'; '.join(words)}{more}."


def _words(change: Changed) -> str:
    if change.is_sql:
        return f"{change.path} is another query"
    return f"{change.path} from {_shown(change.before)} to {_shown(change.after)}"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Mappings are walked; lists of plain values are one value."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}".lstrip("."))
    elif value is not None:
        yield path, value
