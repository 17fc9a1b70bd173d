"""A child that opens updates for a session worker: python -m aggregation.sessions.child <socket>.

HPKE holds Python's lock, so one process opens on one core, however many sessions and threads it
has. Each order over the socket has a session's private key and sealed updates; the answer has the
plain bytes. What makes that as safe as opening them in the worker:

- The key and the updates go from memory to memory, through a socket without a name between the two:
  no argument, no environment, no file, no network.
- A child belongs to one worker, on the same machine and as the same user, and ends with it: when
  the worker is gone, however it ended, the socket is closed.
- It keeps nothing from one order to the next, writes nothing, and says nothing when it fails.
  Should it crash, the system writes nothing of its memory either.
- Memory that was freed is not wiped. So its worker ends it whenever one of its sessions ends.
"""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection
from typing import NoReturn

import msgspec

from aggregation.no_core import leave_no_core
from aggregation.protocol.sealing import SealedUpdate, open_with

_order = msgspec.msgpack.Decoder(tuple[bytes, bytes, list[SealedUpdate]])


def serve(socket: Connection) -> NoReturn:
    while True:
        private, info, batch = _order.decode(socket.recv_bytes())
        socket.send_bytes(msgspec.msgpack.encode(open_with(private, info, batch)))
        del private, info, batch


def main(number: str) -> int:
    leave_no_core()
    # Ctrl-C is for the worker to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(Connection(int(number)))
    except EOFError:
        return 0
    except Exception:
        # Its words could hold a value. The worker opens what is left itself.
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
