"""The corpus: specs that analysts write, and specs that nobody should get through.

A file holds cases. A case is a patch over a plain base spec: fields it names replace the base's,
mappings are merged, null takes a field out. `sql` takes the two queries' place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import spec_from
from aggregation.protocol.spec_text import Document, read_document
from aggregation.protocol.streams import EVENT_TIME, STAMPED, Catalog, Column, Stream

FOLDER = Path(__file__).parent

REGIONS = [str(2_950_159 + number) for number in range(12)]
COUNTRIES = ["DE", "FR", "NO", "US"]

BASE: dict[str, Any] = {
    "name": "a-task",
    "streams": ["trips"],
    "window": {"unit": "week"},
    "client_sql": (
        "SELECT activity, privacy_time_unit, COUNT(*) AS n\n"
        "FROM trips GROUP BY activity, privacy_time_unit\n"
    ),
    "server_sql": (
        "SELECT activity, privacy_time_unit, SUM(n) AS n\n"
        "FROM device_results GROUP BY activity, privacy_time_unit\n"
    ),
    "anonymization": {"epsilon": 1, "mechanism": {"kind": "joint_clipping", "clip": 100}},
}


@dataclass(frozen=True)
class Case:
    name: str
    document: dict[str, Any]
    # Expected diagnostics: rule, or rule with its part, line and column.
    expect: tuple[dict[str, Any], ...] = ()

    @property
    def spec(self) -> Spec:
        return spec_from(Document(self.document, {}))


# A stream as others may install it: free text, and a number that is an identifier.
DIARY = Stream(
    name="diary",
    title="Diary",
    description="What somebody wrote down.",
    ttl_days=7,
    columns=(
        Column(name="note", type="text", description="Anything."),
        Column(name="author", type="integer", description="Who wrote it."),
        EVENT_TIME,
        *STAMPED,
    ),
)


def catalog() -> Catalog:
    """The streams that ship, over a few places, and one more."""
    shipped = shipped_catalog(regions=REGIONS, countries=COUNTRIES)
    streams = {stream.name: stream for stream in (*shipped, DIARY)}
    hashes = {c.domain for s in streams.values() for c in s.columns if c.domain}
    return Catalog(streams, {h: shipped.domain(h) for h in hashes})


def cases(folder: str) -> list[Case]:
    return [case for path in sorted((FOLDER / folder).glob("*.yaml")) for case in _read(path)]


def _read(path: Path) -> Iterator[Case]:
    for entry in read_document(path.read_text()).value:
        patch = {k: v for k, v in entry.items() if k not in ("name", "expect", "title")}
        if "title" in entry:
            patch["name"] = entry["title"]
        if "sql" in patch:
            patch = {"client_sql": None, "server_sql": None, **patch}
        document = _patched(copy.deepcopy(BASE), patch)
        expect = tuple(_expectation(e) for e in entry.get("expect", ()))
        yield Case(f"{path.stem}: {entry['name']}", document, expect)


def _patched(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    for name, value in patch.items():
        if value is None:
            document.pop(name, None)
        elif (
            isinstance(value, dict) and isinstance(document.get(name), dict) and name != "mechanism"
        ):
            document[name] = _patched(document[name], value)
        else:
            document[name] = value
    return document


def _expectation(given: str | dict[str, Any]) -> dict[str, Any]:
    """`rule`, `rule part`, or `rule part line:column`."""
    if isinstance(given, dict):
        return given
    rule, *rest = given.split()
    found: dict[str, Any] = {"rule": rule}
    if rest:
        found["part"] = rest[0]
    if len(rest) > 1:
        line, column = rest[1].split(":")
        found.update(line=int(line), column=int(column))
    return found
