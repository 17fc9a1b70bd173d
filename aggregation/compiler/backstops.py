"""Nets below the net: what must hold of an accepted spec, whatever the rules have missed."""

from __future__ import annotations

import msgspec

from aggregation.compiler.guard.plan import Plan
from aggregation.compiler.guard.server import ServerQuery
from aggregation.compiler.tree import Ref
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.server_config import ServerConfig


def whole(planned: Plan, server: ServerQuery) -> bool:
    """Whether every column of the server query is a key, the window or a sum, one sum at least."""
    measures = server.measures()
    grouped = [i for i in (server.select.items if server.select else ()) if i not in measures]
    plain = all(isinstance(item.value, Ref) for item in grouped)
    return plain and bool(planned.metrics) and not planned.derivation.findings


def lasting(document: ClientTask | ServerConfig) -> bool:
    """Whether it is itself again when it is read: it is kept, hashed and sent as JSON."""
    try:
        return msgspec.json.decode(document.canonical(), type=type(document)) == document
    except msgspec.MsgspecError:
        return False
