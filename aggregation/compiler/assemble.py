"""Put the two queries together: the one query a device runs, and the keys of its result."""

from __future__ import annotations

from dataclasses import replace

from aggregation.compiler.derive import Coordinate
from aggregation.compiler.guard.server import ServerQuery
from aggregation.compiler.origins import FromChoice, FromColumn
from aggregation.compiler.tree import WINDOW, Aggregate, Block, Field, Item, Ref, Select, Source
from aggregation.compiler.walks import blocks, expressions, walk
from aggregation.protocol.client_task import Key
from aggregation.protocol.domains import Domain
from aggregation.protocol.streams import Catalog, Stream


def device_query(client: Block, server: ServerQuery, coordinates: list[Coordinate]) -> Select:
    """Columns in the order keys, privacy_time_unit, coordinates, under their published names.

    Where the server query groups by fewer keys, counts rows or sums an expression, the device
    does that for its own rows already: less leaves it, and sums across devices stay the same.
    """
    keys = server.key_columns()
    direct = _direct(client, server, coordinates)
    if direct is not None:
        return direct
    source = Source("s1", client, client.fields)
    window = next(f for f in client.fields if f in server.inputs.windows)
    refs = [(name, Ref("s1", field)) for name, field in (*keys, (WINDOW, window))]
    items = [Item(name, ref) for name, ref in refs]
    items += [Item(c.name, c.value) for c in coordinates]
    group = tuple(dict.fromkeys(ref for _, ref in refs))
    return Select(tuple(items), source, (), None, group, None, False, ())


def _direct(client: Block, server: ServerQuery, coordinates: list[Coordinate]) -> Select | None:
    """The client query itself, where every coordinate is the plain sum of one of its columns."""
    keys, inputs = server.key_columns(), server.inputs
    columns = [_summed(c.value) for c in coordinates]
    if not isinstance(client, Select) or {f for _, f in keys} != set(inputs.keys):
        return None
    values = {item.name: item.value for item in client.items}
    items = [Item(name, values[f.name]) for name, f in keys]
    items.append(Item(WINDOW, values[inputs.windows[0].name]))
    for coordinate, column in zip(coordinates, columns, strict=True):
        if column is None:
            return None
        items.append(Item(coordinate.name, values[column]))
    return replace(client, items=tuple(items), fields=())


def _summed(value: Aggregate) -> str | None:
    """The column of which this is the plain sum."""
    plain = value.name == "sum" and isinstance(value.value, Ref)
    return value.value.field.name if plain and isinstance(value.value, Ref) else None


def keys_of(server: ServerQuery, catalog: Catalog) -> tuple[Key, ...]:
    """The keys of the result with their closed sets."""
    return tuple(_key(name, field, catalog) for name, field in server.key_columns())


def _key(name: str, field: Field, catalog: Catalog) -> Key:
    origin = field.origin
    if isinstance(origin, FromColumn) and origin.column.domain is not None:
        domain = catalog.domain(origin.column.domain)
        return Key(name=name, domain=origin.column.domain, count=len(domain))
    if isinstance(origin, FromChoice):
        domain = Domain(origin.values)
        return Key(name=name, domain=domain.sha256, count=len(domain), values=origin.values)
    raise ValueError("A key without a closed set has passed the rules.")


def reads_of(main: Select) -> dict[str, tuple[str, ...]]:
    """Stream → the columns the query reads; the window's id always, to stamp rows with."""
    found: dict[str, set[str]] = {}
    for block in blocks(main):
        if not isinstance(block, Select):
            continue
        streams = {s.name: s.relation for s in block.sources if isinstance(s.relation, Stream)}
        for stream in streams.values():
            found.setdefault(stream.name, {WINDOW})
        for expr in (e for top in expressions(block) for e in walk(top)):
            if isinstance(expr, Ref) and expr.source in streams:
                found[streams[expr.source].name].add(expr.field.name)
    return {stream: tuple(sorted(columns)) for stream, columns in sorted(found.items())}


def unused_fields(server: ServerQuery, coordinates: list[Coordinate]) -> tuple[Field, ...]:
    """What the client query computes and the server query leaves alone."""
    used = {f for _, f in server.key_columns()}
    for coordinate in coordinates:
        used |= {e.field for e in walk(coordinate.value) if isinstance(e, Ref)}
    return tuple(f for f in (*server.inputs.keys, *server.inputs.metrics) if f not in used)
