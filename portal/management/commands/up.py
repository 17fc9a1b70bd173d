"""Prepare everything that is missing, then run the whole system until Ctrl-C."""

import asyncio
import os
import resource
import signal
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from portal.clock import simulated_clock
from portal.supervisor import preflight, system, valkey
from portal.supervisor.log import say


class Command(BaseCommand):
    help = "Set up what is missing and run the whole system: web, workers, beat, Valkey, phones."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGINT, _leave_at_once)
        os.umask(0o077)  # what is made from here on is for this user alone
        # Nor does anything that is in memory go to a file when a process of it crashes.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        lock = preflight.lock_data_folder(settings.DATA)
        preflight.check_port(settings.BIND, settings.PORT)
        preflight.check_keys()
        preflight.check_database()
        preflight.check_scenario(settings.SCENARIO)
        if not settings.EMBEDDED_VALKEY:
            preflight.check_queues()
        if settings.EMBEDDED_VALKEY:
            valkey.prepare_run_dir(settings.RUN_DIR)
            valkey.clear_socket(settings.VALKEY_SOCKET)
        call_command("prepare")
        if settings.CLOCK == "simulated":
            simulated_clock().resume()
        say("mayfly", f"starting on {settings.PUBLIC_URL}, data in {settings.DATA}")
        asyncio.run(system.run(banner()))
        lock.close()


def _leave_at_once(*_: object) -> None:
    """Ctrl-C while things are being prepared, all of which can be done again.

    An exception would not do: it is lost where Ctrl-C happens to interrupt a finalizer.
    """
    say("mayfly", "stopped before everything was up")
    os._exit(130)


def banner() -> str:
    lines = [f"Mayfly is ready at {settings.PUBLIC_URL}"]
    if settings.DEMO:
        lines.append(
            "Sign in as analyst, reviewer, consumer or operator; the password is the name."
        )
    if settings.SCENARIO != "none" and settings.CLOCK == "simulated" and simulated_clock().is_new:
        lines.append("The first release is there in about two minutes.")
    if settings.DEMO and not _is_loopback(settings.BIND):
        lines.append(
            f"Careful: on {settings.BIND}, anyone who reaches this port can sign in as any of them."
        )
    lines.append("Ctrl-C stops everything.")
    width = max(map(len, lines))
    return "\n".join(["", *(f"  {line:<{width}}" for line in lines), ""])


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
