"""What an address of the catalog names, or a 404 that says what is missing."""

from django.http import Http404

from portal.streams import selectors
from portal.streams.describing import ColumnFacts, StreamFacts


def find_stream(name: str) -> StreamFacts:
    found = selectors.stream(name)
    if found is None:
        raise Http404(f"There is no stream “{name}”.")
    return found


def find_domain(name: str, column: str) -> tuple[StreamFacts, ColumnFacts]:
    facts = find_stream(name)
    found = facts.column(column)
    if found is None:
        raise Http404(f"The stream {name} has no column “{column}”.")
    if found.domain is None:
        raise Http404(f"The column {column} of {name} has no domain: it takes any value.")
    return facts, found
