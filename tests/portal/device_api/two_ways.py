"""An application that says which way a request came: 202 for the short one, 200 for the usual.

On the short way it sends the body back, b"later" a little later, and for b"long" LONG bytes.
"""

import asyncio
from typing import Any


def _start(status: int) -> dict[str, Any]:
    headers = [(b"content-length", b"0")]
    return {"type": "http.response.start", "status": status, "headers": headers}


_BODY = {"type": "http.response.body", "body": b""}
LONG = 60_000


class TwoWays:
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            while (await receive()).get("more_body"):
                pass
            await send(_start(200))
            await send(_BODY)

    def take(self, scope: Any, body: bytes, say: Any, to: Any) -> bool:
        if body == b"refused":
            return False
        said = bytes(LONG) if body == b"long" else body
        answer = (to, 202, b"content-length: %d\r\n" % len(said), said)
        if body == b"later":
            asyncio.get_running_loop().call_later(0.05, say, *answer)
        else:
            say(*answer)
        return True


application = TwoWays()
