"""The values of a domain as people read them: with a name beside the code, and its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from aggregation.protocol.domains import Domain, Value
from aggregation.protocol.streams import HOURS, WEEKDAYS
from portal.streams.folding import matches, words
from portal.streams.geography import Place
from portal.streams.places import MOST_CHARACTERS, CountryFacts, PlaceMatches

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LABELS: dict[str, Sequence[str]] = {
    HOURS.sha256: [f"{hour:02d}:00 to {hour:02d}:59" for hour in range(24)],
    WEEKDAYS.sha256: _WEEKDAYS,
}


@dataclass(frozen=True)
class DomainValue:
    # The value's place in the order of its domain, from 0
    index: int
    value: Value
    # What the value means, where it does not say so itself
    label: str = ""
    place: Place | None = None
    country: CountryFacts | None = None
    country_name: str = ""
    # The spelling that was searched for, where the place's own name is another
    also_called: str = ""


class PlaceValues(Sequence[DomainValue]):
    """Regions, read page by page."""

    def __init__(self, found: PlaceMatches, country_names: Mapping[str, str], text: str) -> None:
        self._found = found
        self._text = text[:MOST_CHARACTERS]
        self._country_names = country_names

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> DomainValue: ...
    @overload
    def __getitem__(self, index: slice) -> list[DomainValue]: ...
    def __getitem__(self, index: int | slice) -> DomainValue | list[DomainValue]:
        if isinstance(index, int):
            return self._value(*self._found[index])
        return [self._value(rank, place) for rank, place in self._found[index]]

    def _value(self, rank: int, place: Place) -> DomainValue:
        return DomainValue(
            index=rank,
            value=str(place.geonameid),
            label=place.name,
            place=place,
            country_name=self._country_names[place.country],
            also_called=self._also_called(place),
        )

    def _also_called(self, place: Place) -> str:
        if not words(self._text) or matches(self._text, place.name):
            return ""
        found = [name for name in place.other_names if matches(self._text, name)]
        typed = self._text.strip().casefold()
        return min(found, key=lambda n: (not n.casefold().startswith(typed), len(n)), default="")


def country_values(facts: Sequence[CountryFacts], text: str) -> list[DomainValue]:
    """Countries whose code or name the text matches."""
    values = [DomainValue(f.rank, f.code, f.name, country=f) for f in facts]
    return _matching(values, text)


def plain_values(domain: Domain, sha256: str, text: str) -> list[DomainValue]:
    """Values of any other domain, by what they are or what they mean."""
    labels = _LABELS.get(sha256, [""] * len(domain))
    pairs = zip(domain, labels, strict=True)
    return _matching([DomainValue(i, value, label) for i, (value, label) in enumerate(pairs)], text)


def _matching(values: list[DomainValue], text: str) -> list[DomainValue]:
    text = text[:MOST_CHARACTERS]
    if not text.strip():
        return values
    if not words(text):
        return []
    return [v for v in values if matches(text, str(v.value), v.label)]
