"""A mark in every header, query, cookie and body of many requests: no log has it, nor any file."""

import http.client
import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal.device_api.front_end import FrontEnd, running_front_end

MARK = "mark" + secrets.token_hex(8)


@pytest.fixture(scope="module")
def front_end(
    template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FrontEnd]:
    database = Path(shutil.copy(template_database, tmp_path_factory.mktemp("logs") / "sqlite3"))
    with running_front_end(database=database, MAYFLY_LOG_LEVEL="DEBUG") as running:
        yield running


HEADERS = {
    "Accept": f"text/html, x/{MARK}, */*",
    "Accept-Language": MARK,
    "Authorization": f"Bearer mfly_{MARK}",
    "Cookie": f"sessionid={MARK}; csrftoken={MARK}; theme={MARK}",
    "Origin": f"https://{MARK}.example",
    "Referer": f"https://{MARK}.example/{MARK}",
    "User-Agent": MARK,
    "X-CSRFToken": MARK,
    "X-Forwarded-For": MARK,
    "X-Forwarded-Host": MARK,
    "X-Request-ID": f"{MARK} {MARK}",
    "Mayfly-Token": MARK,
    "Mayfly-Update": MARK,
    f"X-{MARK}": MARK,
}
FORM = f"username={MARK}&password={MARK}&csrfmiddlewaretoken={MARK}&text={MARK}"
FILE = (
    f'--b\r\nContent-Disposition: form-data; name="file"; filename="{MARK}"\r\n\r\n{MARK}\r\n--b--'
)
BODIES = [
    ("application/x-www-form-urlencoded", FORM),
    ("multipart/form-data; boundary=b", FILE),
    ("application/json", json.dumps({"text": MARK, MARK: 1})),
    ("application/json", "{" + MARK),
    (f"text/{MARK}", MARK),
]
PATHS = [
    "/", "/login", "/account", "/docs", "/api/v1/me", "/api/v1/tasks", "/api/v1/nothing",
    "/nothing", "/theme", "/logout", "/health", "/releases/a/b/files/cells.csv",
    "/api/v1/releases/a/b/cells", "/device/v1/check-in", "/device/v1/active",
    f"/device/v1/sessions/{'0' * 32}/updates", "/device/v1/nothing",
]  # fmt: skip


def test_nothing_of_a_request_is_in_the_log(front_end: FrontEnd) -> None:
    statuses = set()
    for path in PATHS:
        for kind, body in BODIES:
            statuses.add(_ask(front_end, "POST", f"{path}?q={MARK}&{MARK}=1", kind, body))
        for host in ("127.0.0.1", f"{MARK}.example"):
            statuses.add(_ask(front_end, "GET", f"{path}?q={MARK}&next={MARK}", host=host))
    assert statuses >= {200, 400, 401, 403, 404, 405}
    assert 500 not in statuses
    assert MARK not in front_end.log
    for file in front_end.data.rglob("*"):
        if file.is_file() and not file.is_symlink():
            assert MARK.encode() not in file.read_bytes(), file


def _ask(
    front_end: FrontEnd, method: str, path: str, kind: str = "", body: str = "", *, host: str = ""
) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", front_end.port, timeout=60)
    given = {**HEADERS, "Content-Type": kind} if kind else dict(HEADERS)
    try:
        connection.request(method, path, body, {**given, "Host": host or "127.0.0.1"})
        return connection.getresponse().status
    finally:
        connection.close()
