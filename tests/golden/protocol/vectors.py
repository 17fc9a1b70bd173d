"""The golden vectors: each file's content, made anew from the fixed inputs and the code."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np

from aggregation.protocol.approval import key_id, sign
from aggregation.protocol.messages import (
    Active,
    Assigned,
    AssignmentRequest,
    Assignments,
    CheckIn,
    Code,
    Failure,
    Fault,
    NextCheckIn,
    Offer,
    Offers,
    SessionOpen,
    SessionOver,
    TurnedAway,
    Wanted,
    write,
)
from aggregation.protocol.part import Part
from aggregation.protocol.ranks import Cells
from aggregation.protocol.sealing import SessionKeys
from aggregation.protocol.session_key import sign_session_key, signed_bytes
from aggregation.protocol.tokens import token
from aggregation.protocol.update import Shape, length, pack
from aggregation.protocol.windows import Unit, Window
from tests.golden.protocol import rfc9180
from tests.golden.protocol.executions import executions
from tests.golden.protocol.inputs import (
    APPROVAL_KEY,
    CATALOG,
    EPHEMERAL,
    SESSION,
    SESSION_KEY,
    TASK,
    TOKEN_KEY,
    UPDATE,
    WORKER_KEY,
    approval,
)

PUBLIC = SessionKeys(SESSION_KEY).public
SIGNED = sign(approval(), APPROVAL_KEY)
SESSION_SIGNATURE = sign_session_key(
    WORKER_KEY, session=SESSION, client_task=TASK.sha256, public=PUBLIC
)
TOKEN = token(TOKEN_KEY, session=SESSION, update=UPDATE)
WEEKS = ("2026-11-02", "2026-11-09", "2026-11-16")


def part(ranks: list[int], values: list[list[int]], metrics: int) -> Part:
    array = np.array(values, dtype=np.int64).reshape(len(ranks), metrics)
    return Part(np.array(ranks, dtype=np.uint32), array)


def windows() -> list[dict[str, Any]]:
    moments = [datetime(2026, 11, 12, 15, 30, 59, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)]
    found = [(moment, Window.containing(moment, unit)) for moment in moments for unit in Unit]
    return [
        {
            "moment": int(moment.timestamp()),
            "unit": window.unit.value,
            "id": window.id,
            "start": int(window.start.timestamp()),
            "end": int(window.end.timestamp()),
        }
        for moment, window in found
    ]


def cells() -> dict[str, Any]:
    """Domains by their hash, and the ranks of some cells of the example task."""
    declared = Cells.of(TASK.keys, CATALOG.domain)
    combinations = [declared.values(rank) for rank in (0, 1, 9, 22, declared.size - 1)]
    return {
        "domains": [
            {"name": k.name, "sha256": k.domain, "values": list(CATALOG.domain(k.domain))}
            for k in TASK.keys
        ],
        "cells": declared.size,
        "ranks": [{"values": list(v), "rank": declared.rank(v)} for v in combinations]
        + [{"values": ["2950159", "sailing"], "rank": -1}],
    }


def updates() -> list[dict[str, Any]]:
    """Bytes for no row, one row and many, and for one to three windows."""
    rows: dict[str, Callable[[Shape], Part]] = {
        "no rows": lambda shape: Part.zero(shape.metrics),
        "one row": lambda shape: part([258], [[1, -2, 3][: shape.metrics]], shape.metrics),
        "all rows": lambda shape: part(
            [7 * n for n in range(shape.max_rows)],
            [
                [(-1) ** n * (n + 1) * 1000 + m for m in range(shape.metrics)]
                for n in range(shape.max_rows)
            ],
            shape.metrics,
        ),
    }
    shapes = [Shape(Unit.WEEK, 4, 3), Shape(Unit.WEEK, 64, 1)]
    found = [
        _update(f"{name}, {count} of {len(WEEKS)} weeks", shape, WEEKS[:count], make)
        for shape in shapes
        for name, make in rows.items()
        for count in (1, 2, 3)
    ]
    hours = tuple(f"2026-11-09T{hour:02d}" for hour in range(16))
    return [*found, _update("16 hours", Shape(Unit.HOUR, 1, 1), hours, rows["one row"])]


def _update(
    name: str, shape: Shape, ids: tuple[str, ...], make: Callable[[Shape], Part]
) -> dict[str, Any]:
    parts = {Window.parse(text, shape.unit): make(shape) for text in ids}
    raw = pack(parts, shape)
    return {
        "name": name,
        "window_unit": shape.unit.value,
        "max_rows": shape.max_rows,
        "metrics": shape.metrics,
        "windows": list(ids),
        "parts": [{"ranks": p.ranks.tolist(), "values": p.values.tolist()} for p in parts.values()],
        "length": length(shape, len(ids)),
        "bytes": raw.hex(),
    }


def sealing() -> dict[str, Any]:
    """The first execution's part, packed, sealed with a fixed ephemeral key, and all between."""
    made = executions()[0]
    week = Window.parse(made["window"], TASK.window_unit)
    plain = pack({week: part(**made["part"], metrics=len(TASK.metrics))}, Shape.of(TASK))
    bound = bytes.fromhex(TASK.sha256) + bytes.fromhex(SESSION) + bytes.fromhex(UPDATE)
    info = b"mayfly update 1\n" + bound
    context = rfc9180.sender(ephemeral=EPHEMERAL, recipient=PUBLIC, info=info)
    return {
        "client_task": TASK.sha256,
        "session": SESSION,
        "update": UPDATE,
        "session_private_key": SESSION_KEY.private_bytes_raw().hex(),
        "session_public_key": PUBLIC.hex(),
        "ephemeral_private_key": EPHEMERAL.hex(),
        "info": info.hex(),
        "enc": context.enc.hex(),
        "shared_secret": context.shared_secret.hex(),
        "key": context.key.hex(),
        "nonce": context.nonce.hex(),
        "plain": plain.hex(),
        "sealed": context.seal(plain).hex(),
    }


def signatures() -> dict[str, Any]:
    signed = signed_bytes(session=SESSION, client_task=TASK.sha256, public=PUBLIC)
    return {
        "approval": {
            "private_key": APPROVAL_KEY.private_bytes_raw().hex(),
            "public_key": APPROVAL_KEY.public_key().public_bytes_raw().hex(),
            "key_id": key_id(APPROVAL_KEY.public_key()),
            "approval": msgspec.to_builtins(approval()),
            "signed_bytes": approval().signed_bytes().decode(),
            "signature": SIGNED.hex(),
        },
        "session_key": {
            "private_key": WORKER_KEY.private_bytes_raw().hex(),
            "public_key": WORKER_KEY.public_key().public_bytes_raw().hex(),
            "session": SESSION,
            "client_task": TASK.sha256,
            "session_public_key": PUBLIC.hex(),
            "signed_bytes": signed.decode(),
            "signature": SESSION_SIGNATURE.hex(),
        },
        "token": {
            "key": TOKEN_KEY.hex(),
            "session": SESSION,
            "update": UPDATE,
            "token": TOKEN,
        },
    }


def client_task() -> dict[str, Any]:
    return {"sha256": TASK.sha256, "body": TASK.canonical().decode()}


def messages() -> dict[str, str]:
    """Bodies as they are on the wire: compact JSON."""
    named = {"task": "weekly-trips", "client_task": TASK.sha256}
    bodies = {
        "active request": Active(version=1, population="DE"),
        "check-in request": CheckIn(version=1, population="DE"),
        "check-in answer": Offers(
            tasks=(
                Offer(
                    **named,
                    window_unit=TASK.window_unit,
                    windows=WEEKS[:2],
                    eligibility=TASK.eligibility,
                    schedule=TASK.schedule,
                ),
            ),
            next_check_in=NextCheckIn(min_seconds=64800, max_seconds=108001),
        ),
        "assignments request": AssignmentRequest(
            version=1, population="DE", tasks=(Wanted(**named),)
        ),
        "assignments answer": Assignments(assignments=(_assigned(named), _turned_away())),
        "status answer, open": SessionOpen(),
        "status answer, over": SessionOver(counted=WEEKS[:1]),
        "error answer": Failure(
            error=Fault(
                code=Code.SESSION_OVER,
                message="This session takes no more updates.",
                hint="Ask for the update's status.",
            )
        ),
    }
    return {name: write(body).decode() for name, body in bodies.items()}


def _assigned(named: dict[str, str]) -> Assigned:
    return Assigned(
        **named,
        address=f"/device/v1/client-tasks/{TASK.sha256}",
        approval=approval(),
        signature=SIGNED.hex(),
        key_id=key_id(APPROVAL_KEY.public_key()),
        session=SESSION,
        public_key=PUBLIC.hex(),
        session_signature=SESSION_SIGNATURE.hex(),
        update=UPDATE,
        token=TOKEN,
        windows=WEEKS[:2],
    )


def _turned_away() -> TurnedAway:
    return TurnedAway(
        task="monthly-assistant",
        client_task="0a" * 32,
        reason="No session of this task takes updates at the moment.",
        retry_seconds=1200,
    )


VECTORS: dict[str, Callable[[], Any]] = {
    "windows": windows,
    "cells": cells,
    "client-task": client_task,
    "executions": executions,
    "updates": updates,
    "sealing": sealing,
    "signatures": signatures,
    "messages": messages,
}
