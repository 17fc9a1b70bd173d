"""One session's opening in children beside opening alone: updates by the wall clock, on all cores.

Two children are what two cores have work for; more cores take more.
"""

import time
from collections.abc import Iterator

from aggregation.protocol.ids import fresh_update_id
from aggregation.protocol.sealing import Helper, SessionKeys, seal
from aggregation.sessions.session import Session
from portal.collection.openers import Openers
from portal.collection.running import BATCH
from tests.aggregation.sessions.examples import WEEK
from tests.bench.bench_session import CONFIG, SESSION, Batch, _update
from tests.bench.figures import Figure

UPDATES, ROUNDS, CHILDREN = 2000, 5, 2


def figures() -> Iterator[Figure]:
    keys, ids = SessionKeys.fresh(), [fresh_update_id() for _ in range(UPDATES)]
    to = {"public": keys.public, "client_task": CONFIG.client_task, "session": SESSION}
    batch = [(one, seal(_update(n), update=one, **to)) for n, one in enumerate(ids)]
    openers = Openers(CHILDREN)
    try:
        _rate(keys, batch, openers.open_all)  # they are started with the first batch
        pairs = [(_rate(keys, batch, openers.open_all), _rate(keys, batch)) for _ in range(ROUNDS)]
    finally:
        openers.close()
    ours, alone = (max(rates) for rates in zip(*pairs, strict=True))
    name = f"session, sealed, {CHILDREN} openers"
    yield Figure(name, ours, alone, "updates/s", "the session opening alone")


def _rate(keys: SessionKeys, batch: Batch, helper: Helper | None = None) -> float:
    session = Session(id=SESSION, config=CONFIG, keys=keys, windows=[WEEK], helper=helper)
    began = time.perf_counter()
    for at in range(0, UPDATES, BATCH):
        session.take(batch[at : at + BATCH])
    spent = time.perf_counter() - began
    assert session.accepted == UPDATES
    return UPDATES / spent
