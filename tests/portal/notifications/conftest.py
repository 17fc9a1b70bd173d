"""Real receivers: a small SMTP server and a small HTTP server, each in a thread of this process."""

import http.server
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest

SECRET = "a secret of more than thirty-two characters"


@dataclass
class Mailbox:
    """What a mail server took, and how it behaves."""

    port: int = 0
    messages: list[EmailMessage] = field(default_factory=list)
    # The answer to RCPT TO; "" hangs up instead of greeting.
    greeting: str = "220 test"
    to_recipient: str = "250 ok"


class _SmtpConversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        box: Mailbox = self.server.box  # type: ignore[attr-defined]
        if not box.greeting:
            return
        self._say(box.greeting)
        answers = {"RCPT": box.to_recipient, "QUIT": "221 bye", "DATA": "354 go on"}
        while line := self.rfile.readline():
            verb = line[:4].decode().upper()
            self._say(answers.get(verb, "250 ok"))
            if verb == "QUIT":
                return
            if verb == "DATA":
                box.messages.append(self._message())
                self._say("250 taken")

    def _message(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        parsed: Any = message_from_bytes(b"".join(lines), policy=policy.default)
        return parsed

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@dataclass
class Received:
    """One call of the webhook, as its receiver sees it."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    url: str = ""
    calls: list[Received] = field(default_factory=list)
    status: int = 204
    location: str = ""
    # Called before answering, to hold a call up or to count.
    before_answer: Callable[[], object] = lambda: None


class _WebhookCall(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.calls.append(Received(dict(self.headers), body))
        receiver.before_answer()
        self.send_response(receiver.status)
        if receiver.location:
            self.send_header("Location", receiver.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the name http.server looks for

    def log_message(self, *args: object) -> None:
        """Tests have their own words."""


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False


def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """A slow hash protects real passwords; these tests make hundreds of people."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A real mail server, and settings that name it."""
    server = _Server(("127.0.0.1", 0), _SmtpConversation)
    box = server.box = Mailbox(port=server.server_address[1])  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_TIMEOUT = "127.0.0.1", box.port, 2
    for _ in _serving(server):
        yield box


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A real receiver of webhook calls, and settings that name it."""
    server = _Server(("127.0.0.1", 0), _WebhookCall)
    found = server.receiver = Receiver()  # type: ignore[attr-defined]
    found.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    settings.WEBHOOK_URL, settings.WEBHOOK_SECRET = found.url, SECRET
    for _ in _serving(server):
        yield found


@pytest.fixture
def tell(clock: Any) -> Callable[..., Any]:
    """Tell people of a token, or of what the test says."""
    from portal.notifications.services import notify

    def tell_them(*recipients: Any, **words: Any) -> Any:
        said = {
            "kind": "test.happened",
            "title": "Something happened",
            "body": "It was seen from here.\nTwice.",
            "link": "/streams/trips",
            "clock": clock,
            "machine": clock,
        }
        return notify(recipients=recipients, **{**said, **words})

    return tell_them
