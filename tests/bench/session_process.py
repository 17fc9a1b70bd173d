"""A session in a process of its own, without a database: it pops, opens, checks and sums.

python -m tests.bench.session_process <session> <updates>
"""

import sys
import time

import django

from aggregation.protocol.sealing import SessionKeys
from aggregation.sessions.session import Session
from tests.aggregation.sessions.examples import WEEK
from tests.bench.bench_session import CONFIG


def main(session_id: str, updates: int) -> None:
    django.setup()
    from portal.collection import live
    from portal.collection.running import BATCH, POLL_SECONDS

    keys = SessionKeys.fresh()
    session = Session(id=session_id, config=CONFIG, keys=keys, windows=[WEEK])
    live.open_queue(session_id)
    print(keys.public.hex(), flush=True)
    began = time.process_time()
    while session.accepted < updates:
        batch = live.pop(session_id, BATCH)
        if batch:
            session.take(batch)
        else:
            time.sleep(POLL_SECONDS)
    print(time.process_time() - began, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
