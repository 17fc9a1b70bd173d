"""What a session costs per update: beside HPKE's own opening, and beside the rates we hold.

World-size domain (1.35 million cells of three metrics), padded bodies of 64 rows, all checks on.
Processor time: others on the machine do not make an update dear.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from aggregation.core.checks import Params, check_batch
from aggregation.protocol.client_task import Key
from aggregation.protocol.ids import fresh_session_id, fresh_update_id
from aggregation.protocol.part import Part
from aggregation.protocol.sealing import Helper, Opener, SessionKeys, seal
from aggregation.protocol.update import Shape, pack, unpack_batch
from aggregation.sessions.held import Held
from aggregation.sessions.session import Session
from tests.aggregation.sessions.examples import WEEK, config
from tests.bench.figures import Figure

UPDATES = 1000
ROUNDS = 25
CONFIG = config(
    keys=(Key(name="cell", domain="d0" * 32, count=50_000 * 9 * 3),),
    metrics=("num_trips", "distance_km", "duration_min"),
    max_rows=64,
    min_contributions=1000,
    max_contributions=10_000,
)
SHAPE, PARAMS = Shape.of(CONFIG), Params.of(CONFIG)
SESSION = fresh_session_id()

# An id, and the update's bytes, sealed or plain.
Batch = list[tuple[str, bytes]]
Work = Callable[[], object]


class PlainKeys(SessionKeys):
    """Updates that were not sealed: what is left is our own work."""

    def opener(self, *, client_task: str, session: str, helper: Helper | None = None) -> Opener:
        return lambda batch: [plain for _, plain in batch]


def figures() -> Iterator[Figure]:
    keys, plain = SessionKeys.fresh(), [(fresh_update_id(), _update(n)) for n in range(UPDATES)]
    to = {"public": keys.public, "client_task": CONFIG.client_task, "session": SESSION}
    sealed = [(update, seal(body, update=update, **to)) for update, body in plain]
    costs = _costs(
        {
            "floor": _hpke_alone(len(plain[0][1])),
            "sealed": lambda: _taken(keys, sealed),
            "plain": lambda: _taken(PlainKeys.fresh(), plain),
            **_steps(keys, sealed, plain),
        }
    )
    floor, ours, bare = (costs.pop(name) for name in ("floor", "sealed", "plain"))
    beside = "HPKE opening as many bytes"
    yield Figure("session.take, sealed", ours, floor, "µs per update", beside)
    for name, cost in costs.items():
        yield Figure(f"session: {name}", cost, floor, "µs per update", beside)
    yield Figure("session, sealed, per core", 1e6 / ours, 12_000, "updates/s", "at least")
    yield Figure("session, plain, per core", 1e6 / bare, 100_000, "updates/s", "at least")


def _update(number: int) -> bytes:
    rng = np.random.default_rng(number)
    rows = int(rng.integers(0, 12))
    ranks = np.sort(rng.choice(PARAMS.cells, rows, replace=False)).astype(np.uint32)
    return pack({WEEK: Part(ranks, rng.integers(-9000, 9000, (rows, 3)))}, SHAPE)


def _taken(keys: SessionKeys, batch: Batch) -> None:
    session = Session(id=SESSION, config=CONFIG, keys=keys, windows=[WEEK])
    assert session.take(batch).accepted == len(batch)


def _hpke_alone(length: int) -> Work:
    """The library's own call, with nothing of ours around it."""
    suite, private = (
        Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM),
        X25519PrivateKey.generate(),
    )
    public, info = private.public_key(), bytes(72)
    bodies = [suite.encrypt(bytes(length), public, info=info) for _ in range(UPDATES)]
    return lambda: [suite.decrypt(body, private, info=info) for body in bodies]


def _steps(keys: SessionKeys, sealed: Batch, plain: Batch) -> dict[str, Work]:
    """The same work step by step: open, unpack, check, accumulate."""
    open_all = keys.opener(client_task=CONFIG.client_task, session=SESSION)
    raw = [(bytes.fromhex(update), body) for update, body in sealed]
    bodies = [body for _, body in plain]
    unpacked = unpack_batch(bodies, SHAPE, ever_open=[WEEK])
    parts, everyone = unpacked.parts[WEEK], np.ones(UPDATES, dtype=bool)
    ids = [update for update, _ in raw]
    adding: dict[str, Any] = {"among": everyone, "origin": SESSION, "ids": ids}
    return {
        "open": lambda: open_all(raw),
        "unpack": lambda: unpack_batch(bodies, SHAPE, ever_open=[WEEK]),
        "check": lambda: check_batch(parts, PARAMS),
        "accumulate": lambda: Held(PARAMS).accumulate(parts, **adding),
    }


def _costs(works: dict[str, Work]) -> dict[str, float]:
    """Microseconds an update, the least of several rounds; in turns, so that all meet the same."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.process_time()
            work()
            spent[name].append(time.process_time() - began)
    return {name: min(own) / UPDATES * 1e6 for name, own in spent.items()}
