"""A small weekly task, its session, and the updates of its devices."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aggregation.protocol.anonymization import JointClipping, Suppression
from aggregation.protocol.client_task import Key
from aggregation.protocol.ids import fresh_session_id, fresh_update_id
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import SessionKeys, seal
from aggregation.protocol.server_config import Aggregation, ServerConfig
from aggregation.protocol.update import Shape, pack
from aggregation.protocol.windows import Unit, Window
from aggregation.sessions.session import Session

WEEK = Window.parse("2026-11-09", Unit.WEEK)
NEXT = WEEK.next()
LATER = NEXT.next()
CELLS = 324

Rows = dict[int, list[int]]


def config(**changes: Any) -> ServerConfig:
    sizes = {"min_contributions": 3, "max_contributions": 100, "max_session_minutes": 60}
    sizes |= {name: changes.pop(name) for name in list(changes) if name in sizes}
    cells = changes.pop("cells", CELLS)
    fields: dict[str, Any] = {
        "client_task": "c1" * 32,
        "streams": ("trips",),
        "window_unit": Unit.WEEK,
        "grace_hours": 24,
        "keys": (Key(name="region", domain="d0" * 32, count=cells),),
        "metrics": ("num_trips", "distance_km"),
        "max_rows": 8,
        "aggregation": Aggregation(**sizes),
        "epsilon": "1",
        "mechanism": JointClipping(clip=1024.0),
        "suppression": Suppression(),
        "audience": "internal",
    }
    return ServerConfig(**{**fields, **changes})


CONFIG = config()


class Room:
    """One session with its key, and devices that send to it."""

    def __init__(self, *windows: Window, config: ServerConfig = CONFIG) -> None:
        self.config = config
        self.id = fresh_session_id()
        self.keys = SessionKeys.fresh()
        self.session = Session(
            id=self.id, config=config, keys=self.keys, windows=windows or (WEEK, NEXT)
        )

    def sealed(self, plain: bytes, update: str | None = None) -> tuple[str, bytes]:
        update = update or fresh_update_id()
        return update, seal(
            plain,
            public=self.keys.public,
            client_task=self.config.client_task,
            session=self.id,
            update=update,
        )

    def update(self, rows: Mapping[Window, Rows], update: str | None = None) -> tuple[str, bytes]:
        return self.sealed(packed(rows, self.config), update)

    def fill(self, window: Window, devices: int, *, cell: int = 0) -> list[str]:
        """Devices that count 1 in one cell; their update ids."""
        batch = [self.update({window: {cell: [1, 0]}}) for _ in range(devices)]
        assert self.session.take(batch).accepted == devices
        return [update for update, _ in batch]


def packed(rows: Mapping[Window, Rows], of: ServerConfig = CONFIG) -> bytes:
    return pack({window: part(own) for window, own in rows.items()}, Shape.of(of))


def part(rows: Rows) -> Part:
    values = np.array(list(rows.values()), dtype=np.int64).reshape(len(rows), 2)
    return Part(np.array(list(rows), dtype=np.uint32), values)


def receipts_of(ids: list[str]) -> bytes:
    return b"".join(sorted(map(bytes.fromhex, ids)))
