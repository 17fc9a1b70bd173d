"""HTTP as bytes, for requests that no library would send."""

import socket
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class RawReply:
    status: int
    headers: dict[str, str]
    body: bytes


def request(
    method: str, path: str, body: bytes = b"", *headers: tuple[str, str], length: bool = True
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def exchange(port: int, raw: bytes, *, replies: int = 1, patience: float = 15) -> list[RawReply]:
    """Send the bytes, then read up to so many replies; fewer if the server hangs up or waits."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection:
        with suppress(OSError):  # refused before it was all sent
            connection.sendall(raw)
        return _replies(connection, replies, head=raw.startswith(b"HEAD "))


def _replies(connection: socket.socket, count: int, *, head: bool) -> list[RawReply]:
    found: list[RawReply] = []
    data = b""
    while len(found) < count:
        reply, rest = parsed(data, head=head)
        if reply is not None:
            found.append(reply)
            data = rest
            continue
        try:
            more = connection.recv(65_536)
        except (ConnectionResetError, TimeoutError):
            more = b""
        if not more:
            break
        data += more
    return found


def parsed(data: bytes, *, head: bool) -> tuple[RawReply | None, bytes]:
    top, found, rest = data.partition(b"\r\n\r\n")
    if not found:
        return None, data
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
    if not head and headers.get("transfer-encoding") == "chunked":
        return _in_chunks(first, headers, rest, data)
    length = 0 if head else int(headers.get("content-length", 0))
    if len(rest) < length:
        return None, data
    status = int(first.split()[1])
    if status == 100:  # the server asks for the body
        return parsed(rest, head=head)
    return RawReply(status, headers, rest[:length]), rest[length:]


def _in_chunks(
    first: str, headers: dict[str, str], rest: bytes, data: bytes
) -> tuple[RawReply | None, bytes]:
    body = b""
    while True:
        size, found, rest = rest.partition(b"\r\n")
        length = int(size, 16) if found else 0
        if not found or len(rest) < length + 2:
            return None, data
        body, rest = body + rest[:length], rest[length + 2 :]
        if length == 0:
            return RawReply(int(first.split()[1]), headers, body), rest
