"""Hosts, HTTPS and HSTS in the production profile, where Django's middleware does not reach."""

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.parts import eventually
from tests.portal.device_api.front_end import FrontEnd, Reply, running_front_end

HOST = "mayfly.example.org"
BODY = {"version": 1, "population": "DE"}


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontEnd]:
    """In production, behind a proxy on this machine that ends HTTPS; its database is away."""
    folder = tmp_path_factory.mktemp("production")
    environment = {
        "MAYFLY_PROFILE": "production",
        "MAYFLY_SECRET_KEY": "x7-Qk9_" * 10,
        "MAYFLY_HOSTS": f"{HOST},.devices.example.org",
        "MAYFLY_PUBLIC_URL": f"https://{HOST}",
        "MAYFLY_DATABASE_URL": f"postgresql://nobody@/nothing?host={folder}",
        "MAYFLY_BROKER_URL": "unix:///nowhere/valkey.sock",
        "MAYFLY_PROXIES": "127.0.0.1",
    }
    options = ("--forwarded-allow-ips", "127.0.0.1")
    with running_front_end(options=options, **environment) as front_end:
        snapshot = {"at": "", "populations": ["DE"], "tasks": [], "busy": 0}
        snapshot["next_due_seconds"] = None
        front_end.valkey.client.set("mayfly:snapshot", json.dumps(snapshot))
        eventually(lambda: ask(front_end).status == 204)
        yield front_end
    shutil.rmtree(folder)


def ask(front_end: FrontEnd, path: str = "/device/v1/active", **headers: str) -> Reply:
    given = {"Host": HOST, "X-Forwarded-Proto": "https"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return front_end.ask("POST", path, BODY, headers=given)


def test_over_https_devices_are_answered(behind_proxy: FrontEnd) -> None:
    reply = ask(behind_proxy)
    assert reply.status == 204
    hsts = "max-age=31536000; includeSubDomains; preload"
    assert reply.headers["strict-transport-security"] == hsts
    assert "set-cookie" not in reply.headers


def test_errors_say_so_as_well(behind_proxy: FrontEnd) -> None:
    reply = ask(behind_proxy, "/device/v1/nothing")
    assert reply.status == 404
    assert "strict-transport-security" in reply.headers
    assert reply.headers["connection"] == "close"


def test_uploads_are_answered_over_https_alone(behind_proxy: FrontEnd) -> None:
    headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
    reply = behind_proxy.upload("ab" * 16, headers=headers)
    assert reply.status == 410
    assert reply.headers["strict-transport-security"].startswith("max-age=")
    for scheme in ("http", "", "ftp"):
        plain = behind_proxy.upload("ab" * 16, headers={**headers, "X-Forwarded-Proto": scheme})
        assert (plain.status, plain.code) == (403, "https_needed")


def test_the_portal_says_the_same(behind_proxy: FrontEnd) -> None:
    headers = {"Host": HOST, "X-Forwarded-Proto": "https", "Accept": "application/json"}
    page, ours = behind_proxy.ask("GET", "/health", headers=headers), ask(behind_proxy)
    name = "strict-transport-security"
    assert page.headers[name] == ours.headers[name]


@pytest.mark.parametrize("scheme", ["http", "", "ftp"])
def test_plain_http_is_refused_and_not_redirected(behind_proxy: FrontEnd, scheme: str) -> None:
    reply = ask(behind_proxy, X_Forwarded_Proto=scheme)
    assert (reply.status, reply.code) == (403, "https_needed")
    assert "location" not in reply.headers
    assert "strict-transport-security" not in reply.headers


@pytest.mark.parametrize(
    "host", ["evil.example", f"{HOST}.evil.example", "127.0.0.1", "", "a b", f"{HOST}:8o80", "[::1"]
)
def test_another_host_is_refused(behind_proxy: FrontEnd, host: str) -> None:
    reply = ask(behind_proxy, Host=host)
    assert (reply.status, reply.code) == (400, "wrong_host")


@pytest.mark.parametrize(
    "host", [HOST.upper(), f"{HOST}:443", f"{HOST}.", "eu.devices.example.org"]
)
def test_other_spellings_of_our_hosts_are_ours(behind_proxy: FrontEnd, host: str) -> None:
    assert ask(behind_proxy, Host=host).status == 204


def test_a_scheme_is_believed_from_the_proxy_only() -> None:
    """In the demo nobody's word is taken: HTTP is HTTP, and there is no HSTS to promise."""
    with running_front_end() as front_end:
        front_end.publish()
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.7"}
        reply = front_end.ask("POST", "/device/v1/active", BODY, headers=headers)
        assert reply.status == 204
        assert "strict-transport-security" not in reply.headers
