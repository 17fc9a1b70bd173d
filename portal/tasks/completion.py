"""What the editor offers while one types: columns first, then values of domains, then the rest.

Small domains travel with the page; large ones, such as the 50,000 regions, are searched here by
what has been typed so far.
"""

from typing import Any

from sqlglot import exp, parse

from aggregation.compiler.bounds import MAX_SQL_CHARACTERS, MAX_TOKENS
from portal.streams import selectors
from portal.streams.describing import DEVICE_FACTS, ColumnFacts, StreamFacts
from portal.streams.values import DomainValue
from portal.tasks.editor_sql import pieces_of

# Domains up to this size are sent whole.
FEW = 30
MOST = 20


def schema() -> list[dict[str, Any]]:
    """The streams as the page's schema browser and its completion need them."""
    return [_stream(facts) for facts in selectors.streams()]


def device_facts() -> list[dict[str, str]]:
    return [{"name": name, "description": words} for name, words in DEVICE_FACTS.items()]


def matching_values(*, stream: str, column: str, text: str) -> list[dict[str, str]]:
    """Values of a column's domain that a text matches, the more usual first."""
    facts = selectors.stream(stream)
    found = facts.column(column) if facts else None
    if found is None or found.column.domain is None:
        return []
    values = selectors.domain_values(domain=found.column.domain, text=text)
    return [_value(value) for value in values[:MOST]]


def output_columns(sql: str) -> list[str]:
    """The names a client query gives its columns, as far as they can be told while it is typed."""
    if len(sql) > MAX_SQL_CHARACTERS:
        return []
    try:
        if len(pieces_of(sql).items) > MAX_TOKENS:
            return []
        [statement] = [tree for tree in parse(sql, read="sqlite") if tree is not None]
        names = statement.named_selects if isinstance(statement, exp.Query) else []
    except Exception:  # the parser has faults of its own, on syntax that devices do not have
        return []
    return [name for name in dict.fromkeys(names) if name and name != "*"]


def _stream(facts: StreamFacts) -> dict[str, Any]:
    return {
        "name": facts.stream.name,
        "title": facts.stream.title,
        "description": facts.stream.description,
        "columns": [_column(found) for found in facts.columns if found.column.queryable],
    }


def _column(found: ColumnFacts) -> dict[str, Any]:
    column = found.column
    few = found.domain is not None and len(found.domain) <= FEW
    return {
        "name": column.name,
        "type": column.type,
        "unit": column.unit,
        "description": column.description,
        "use": found.use,
        "size": found.size,
        "values": list(found.domain) if few and found.domain is not None else [],
    }


def _value(value: DomainValue) -> dict[str, str]:
    where = value.also_called or value.country_name
    return {"value": str(value.value), "label": value.label, "detail": where}
