"""The whole embedded system: which children there are, and how they start and stop together."""

import asyncio
import contextlib
import json
import signal
import sys
import time
import urllib.error
import urllib.request

from django.conf import settings

from aggregation.errors import Problem
from portal.clock import simulated_clock
from portal.supervisor import valkey
from portal.supervisor.children import Child
from portal.supervisor.log import say

# What service managers start, each on its own.
PROCESSES = ("web", "sessions", "jobs", "beat")
# Ctrl-C to the last process gone takes less than five seconds.
STOP_SECONDS = 3.0
VALKEY_STOP_SECONDS = 1.0
# Beat has nothing to finish, and waits for itself for ever if it is told twice.
_STOP_SIGNALS = {"beat": signal.SIGKILL}
# Valkey speaks of snapshots that we never take, and says good-bye.
_NOISE = ("Memory overcommit must be enabled", "scheduling shutdown", "ready to exit")


def children() -> list[Child]:
    """Valkey first: the others find it when they start, or try until they do."""
    commands = _commands(sessions="threads")
    if settings.SCENARIO != "none":
        fleet = [str(settings.BASE_DIR / "manage.py"), "fleet", "--scenario", settings.SCENARIO]
        commands["fleet"] = [sys.executable, *fleet]
    if settings.EMBEDDED_VALKEY:
        commands = {"valkey": valkey.command(), **commands}
    return [
        Child(name, command, say, _STOP_SIGNALS.get(name, signal.SIGTERM), _NOISE)
        for name, command in commands.items()
    ]


def command(name: str, *, instance: str = "") -> list[str]:
    """One process on a machine that may have several like it; sessions in processes of their own,
    so that each has a core."""
    return _commands(sessions="prefork", instance=instance)[name]


def _commands(*, sessions: str, instance: str = "") -> dict[str, list[str]]:
    """`sessions` is the pool that sessions run in. A worker is known by its machine and number."""
    celery = [sys.executable, "-m", "celery", "-A", "portal.celery", "--quiet"]
    worker = [*celery, "worker", "--without-gossip", "--without-mingle"]
    place = f"%h-{instance}" if instance else "%h"
    return {
        "web": [sys.executable, "-m", "uvicorn", "portal.asgi:application", *_uvicorn_options()],
        "sessions": [
            *worker, "-P", sessions, "-Q", "sessions", "-n", f"sessions@{place}", "-c", _slots()
        ],
        "jobs": [*worker, "-P", "threads", "-Q", "jobs", "-n", f"jobs@{place}", "-c", "5"],
        "beat": [*celery, "beat", "-S", "celery.beat.Scheduler", "--pidfile="],
    }  # fmt: skip


async def run(banner: str) -> None:
    """Start everything, relay its log, and stop it all on Ctrl-C or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    family = children()
    tasks = [asyncio.create_task(child.keep_running()) for child in family]
    tasks.append(asyncio.create_task(_announce(banner)))
    tasks.append(asyncio.create_task(_keep_clock_alive()))
    tasks.append(asyncio.create_task(_keep_socket(family)))
    try:
        await stop.wait()
        say("mayfly", "stopping")
    finally:
        await _stop(family)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    _mark_clock()
    say("mayfly", "stopped")


async def _stop(family: list[Child]) -> None:
    store = [c for c in family if c.name == "valkey"]
    others = [c for c in family if c.name != "valkey"]
    await asyncio.gather(*(c.stop(within=STOP_SECONDS) for c in others))
    await asyncio.gather(*(c.stop(within=VALKEY_STOP_SECONDS) for c in store))


async def _announce(banner: str) -> None:
    """Say where to go once everything answers, or what is still missing."""
    began = time.monotonic()
    told = False
    while (missing := await asyncio.to_thread(_missing_parts)) != []:
        if not told and time.monotonic() - began > 30:
            told = True
            say("mayfly", f"still waiting for: {', '.join(missing)}")
        await asyncio.sleep(0.2)
    say("mayfly", f"ready after {time.monotonic() - began:.1f} s")
    print(banner, flush=True)  # noqa: T201


def _missing_parts() -> list[str]:
    request = urllib.request.Request(
        f"http://{_own_host()}:{settings.PORT}/health",
        headers={"Accept": "application/json", "Host": _own_name()},
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            parts = json.load(answer)["parts"]
    except urllib.error.HTTPError as error:
        with contextlib.suppress(ValueError, KeyError):
            return [p["name"] for p in json.load(error)["parts"] if not p["ok"]]
        return ["web"]
    except (OSError, ValueError):
        return ["web"]
    return [p["name"] for p in parts if not p["ok"]]


async def _keep_clock_alive() -> None:
    while settings.CLOCK == "simulated":
        _mark_clock()
        await asyncio.sleep(1)


def _mark_clock() -> None:
    """A disk that takes nothing for a while takes the next mark: without any, a crash hours later
    would set the time back to the last one."""
    if settings.CLOCK == "simulated":
        with contextlib.suppress(OSError):
            simulated_clock().alive()


async def _keep_socket(family: list[Child]) -> None:
    """A Valkey whose socket was removed (folders in /tmp get cleaned) lives on, unreachable.

    Missing once is a Valkey that is starting; missing three times in a row, it is started again.
    """
    store = next((child for child in family if child.name == "valkey"), None)
    missing = 0
    while store is not None:
        await asyncio.sleep(1)
        missing = 0 if settings.VALKEY_SOCKET.exists() else missing + 1
        if missing >= 3 and store.pid:
            missing = 0
            _replace_socket(store)


def _replace_socket(store: Child) -> None:
    say("mayfly", "the socket of valkey is gone")
    try:
        valkey.prepare_run_dir(settings.RUN_DIR)
    except Problem as problem:
        say("mayfly", str(problem))
    else:
        store.end()


def _uvicorn_options() -> list[str]:
    return [
        "--host", settings.BIND, "--port", str(settings.PORT), "--loop", "uvloop",
        "--http", "portal.device_api.protocol:DeviceProtocol", "--no-access-log",
        "--no-server-header",
        "--timeout-graceful-shutdown", "2", "--log-level", "warning", "--lifespan", "on",
        *_proxy_options(),
    ]  # fmt: skip


def _proxy_options() -> list[str]:
    """People's addresses come from a header only if a proxy of ours sends it."""
    if not settings.PROXIES:
        return ["--no-proxy-headers"]
    return ["--forwarded-allow-ips", ",".join(settings.PROXIES)]


def _slots() -> str:
    """One more than the slots: a place for the successor of a session that has to hand over."""
    return str(settings.SESSION_SLOTS + 1)


def _own_host() -> str:
    return "127.0.0.1" if settings.BIND in ("0.0.0.0", "") else settings.BIND  # noqa: S104


def _own_name() -> str:
    """A host that requests may ask for; where all are, none is called `*`."""
    name = str(settings.ALLOWED_HOSTS[0])
    return "localhost" if name == "*" else name
