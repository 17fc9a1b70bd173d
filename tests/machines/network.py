"""Machines on one network, each with a host name, a link of its own, and /opt/mayfly.

A machine is a network namespace with a virtual cable to a bridge; pulling the cable loses packets
and resets nothing, as in a data centre. Where namespaces cannot be had, machines are processes on
the loopback address, and one that is cut off is frozen instead.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from tests.parts import ROOT, free_port

# Where the units expect the program. The rest is what a machine has of its own.
PLACE = "/opt/mayfly"
_BECOME = (
    "hostname $0 && mount -t tmpfs none /opt && mkdir {place} && mount --bind {root} {place} "
    '&& cd {place} && exec "$@"'
)


@contextmanager
def network() -> Iterator[Network]:
    """Of namespaces, or of processes where those cannot be had."""
    made = Namespaces() if can_have_namespaces() else Loopback()
    with made.made():
        yield made


def can_have_namespaces() -> bool:
    """Whether we may make namespaces and bridges here, and mount in them."""
    try:
        with Namespaces(number=251).made() as tried:
            tried.add("trial")
            run(*tried.on("trial", ["true"]))
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=30)


class Network(Protocol):
    kind: str

    @property
    def gateway(self) -> str:
        """Where the phones are, as machines see them."""
        ...

    def add(self, name: str) -> None: ...

    def address(self, name: str) -> str: ...

    def port(self, name: str, wanted: int) -> int: ...

    def on(self, name: str, command: list[str]) -> list[str]:
        """The command, on that machine. It keeps its process's id."""
        ...

    def cut(self, name: str, process: int) -> None: ...

    def join(self, name: str, process: int) -> None: ...

    def made(self) -> AbstractContextManager[Network]: ...


@dataclass
class Namespaces:
    """Namespaces behind a bridge. The phones are where the test is: at the bridge."""

    number: int = field(default_factory=lambda: os.getpid() % 250)
    machines: list[str] = field(default_factory=list)
    kind: str = "network namespaces"

    @property
    def gateway(self) -> str:
        return f"10.213.{self.number}.1"

    def add(self, name: str) -> None:
        self.machines.append(name)
        place, cable = self._place(name), self._cable(name)
        run("ip", "netns", "add", place)
        run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", place)
        run("ip", "link", "set", cable, "master", self._bridge, "up")
        run("ip", "-n", place, "address", "add", f"{self.address(name)}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            run("ip", "-n", place, "link", "set", device, "up")

    def address(self, name: str) -> str:
        return f"10.213.{self.number}.{10 + self.machines.index(name)}"

    def port(self, name: str, wanted: int) -> int:
        """Each machine has all of them."""
        return wanted

    def on(self, name: str, command: list[str]) -> list[str]:
        become = _BECOME.format(place=PLACE, root=ROOT)
        return [
            "ip", "netns", "exec", self._place(name),
            "unshare", "--uts", "--mount", "sh", "-c", become, name, *command,
        ]  # fmt: skip

    def cut(self, name: str, _process: int) -> None:
        run("ip", "link", "set", self._cable(name), "down")

    def join(self, name: str, _process: int) -> None:
        run("ip", "link", "set", self._cable(name), "up")

    @contextmanager
    def made(self) -> Iterator[Network]:
        run("ip", "link", "add", self._bridge, "type", "bridge")
        try:
            run("ip", "address", "add", f"{self.gateway}/24", "dev", self._bridge)
            run("ip", "link", "set", self._bridge, "up")
            yield self
        finally:
            for name in self.machines:
                with suppress(subprocess.CalledProcessError):
                    run("ip", "netns", "delete", self._place(name))
            run("ip", "link", "delete", self._bridge)

    @property
    def _bridge(self) -> str:
        return f"mayfly{self.number}"

    def _place(self, name: str) -> str:
        return f"mayfly{self.number}-{name}"

    def _cable(self, name: str) -> str:
        return f"mf{self.number}v{self.machines.index(name)}"


@dataclass
class Loopback:
    """Processes on one address, each machine with ports of its own."""

    ports: dict[tuple[str, int], int] = field(default_factory=dict)
    kind: str = "separate processes"
    gateway: str = "127.0.0.1"

    def add(self, name: str) -> None:
        """There is nothing to make."""

    def address(self, name: str) -> str:
        return "127.0.0.1"

    def port(self, name: str, wanted: int) -> int:
        return self.ports.setdefault((name, wanted), free_port())

    def on(self, name: str, command: list[str]) -> list[str]:
        return [word.replace(PLACE, str(ROOT)) for word in command]

    def cut(self, name: str, process: int) -> None:
        os.killpg(process, signal.SIGSTOP)

    def join(self, name: str, process: int) -> None:
        os.killpg(process, signal.SIGCONT)

    @contextmanager
    def made(self) -> Iterator[Network]:
        yield self
