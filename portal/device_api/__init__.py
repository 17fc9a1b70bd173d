"""What devices talk to: six calls under /device/v1/, raw ASGI beside Django.

No request costs database work: open tasks and sessions are a snapshot that is read once a second,
tokens are checked with a key, uploads are appended to queues in memory, many at a time. Requests
that arrive whole take a short way, without a task of their own: `protocol`. Nothing here writes a
log line about a request: no bodies, no ids, no addresses, no cookies.
"""
