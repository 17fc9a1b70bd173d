"""Typed readers for the MAYFLY_* environment variables.

Each reader also notes the knob in `KNOBS`, so that the documentation can be tested against what
the settings really read, and a misspelt variable stops the start instead of being ignored.
"""

import difflib
import os
import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from aggregation.errors import Problem


@dataclass(frozen=True)
class Knob:
    name: str
    kind: str
    default: str


KNOBS: dict[str, Knob] = {}
_HIDDEN = (
    "The address is not shown here, since it may hold a password. In a password, "
    "percent-encode characters such as / # ? @ [."
)
# As Django compares hosts: without a scheme or a port, IPv6 in brackets; a dot takes subdomains.
_HOST = re.compile(r"\*|[a-z0-9.-]+|\[[a-f0-9:.]+\]", re.IGNORECASE)


def text(name: str, default: str = "", *, shown: str = "") -> str:
    return _read(name, "text", default, shown=shown)


def choice(name: str, default: str, options: tuple[str, ...], *, shown: str = "") -> str:
    value = _read(name, " or ".join(options), default, shown=shown)
    if value not in options:
        raise Problem(f"{name} is {value!r}.", hint=f"It takes one of: {', '.join(options)}.")
    return value


def whole(name: str, default: int, least: int, most: int) -> int:
    value = _read(name, f"whole number, {least} to {most}", str(default))
    if not value.isdecimal() or not least <= int(value) <= most:
        raise Problem(f"{name} is {value!r}.", hint=f"It takes a whole number, {least} to {most}.")
    return int(value)


def seconds(name: str, default: float, least: float, *, shown: str = "") -> float:
    value = _read(name, f"seconds, {least:g} or more", f"{default:g}", shown=shown)
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not least <= number <= 86_400:
        raise Problem(f"{name} is {value!r}.", hint=f"It takes seconds, {least:g} to 86400.")
    return number


def hundredths(name: str, default: str, most: int) -> int:
    """A decimal with up to two places, in whole hundredths: 4 is 400, 0.5 is 50."""
    value = _read(name, f"decimal, 0.01 to {most}, in steps of 0.01", default)
    whole, _, rest = value.partition(".")
    fits = (
        whole.isdecimal()
        and len(whole) <= 4
        and (not rest or (rest.isdecimal() and len(rest) <= 2))
    )
    number = int(whole) * 100 + int(rest.ljust(2, "0")) if fits else 0
    if not 1 <= number <= 100 * most:
        raise Problem(f"{name} is {value!r}.", hint=f"It takes 0.01 to {most}, in steps of 0.01.")
    return number


def names(name: str, default: str, *, shown: str = "") -> list[str]:
    value = _read(name, "names, with commas between", default, shown=shown)
    found = [part.strip() for part in value.split(",") if part.strip()]
    if value and not found:
        raise Problem(f"{name} is {value!r}.", hint="It takes names, with commas between.")
    return found


def hosts(name: str, default: str) -> list[str]:
    found = names(name, default)
    for host in found:
        if not _HOST.fullmatch(host):
            raise Problem(
                f"{name} has {host!r}, which no request asks for.",
                hint="It takes host names such as mayfly.example.org, without https:// and port.",
            )
    return found


def networks(name: str) -> list[str]:
    """What the server in front of the program would take for a name, and trust nobody for it."""
    found = names(name, "", shown="none")
    for network in found:
        try:
            ip_network(network)
        except ValueError:
            raise Problem(
                f"{name} has {network!r}, which is no address.",
                hint="It takes addresses such as 10.0.0.5, or networks such as 10.0.0.0/24.",
            ) from None
    return found


def folder(name: str, default: str, *, shown: str = "") -> Path:
    """A folder that is ours to write in; it is made, for us alone, if it is not there."""
    path = Path(_read(name, "folder", default, shown=shown))
    try:
        path = path.expanduser().absolute()
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        writable = os.access(path, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):  # the second of a ~ of nobody
        writable = False
    if not writable:
        raise Problem(
            f"The folder {path} ({name}) cannot be written to.",
            hint="Give this user the right to write there, or name another folder.",
        )
    return path


def folder_if_named(name: str, *, shown: str) -> Path | None:
    named = _read(name, "folder", "", shown=shown)
    return folder(name, named, shown=shown) if named else None


def url(name: str, default: str, schemes: tuple[str, ...], *, shown: str = "") -> str:
    value = _read(name, "address " + " or ".join(f"{s}://" for s in schemes), default, shown=shown)
    if value and value.partition("://")[0].lower() not in schemes:
        raise Problem(
            f"{name} does not start with {' or '.join(f'{s}://' for s in schemes)}.",
            hint=_HIDDEN,
        )
    if value and not _has_place(value):
        raise Problem(f"{name} has no host, or a port that is no number.", hint=_HIDDEN)
    if value and "http" not in schemes and "@" in "".join(urlsplit(value)[2:]):
        # Of a password with a / in it the rest; what is wrong with that would be told with it.
        raise Problem(f"{name} has an @ behind the host.", hint=_HIDDEN)
    return value


def origin(name: str, default: str, *, shown: str) -> str:
    """Where a whole site is: scheme, host and, if any, port."""
    value = url(name, default, ("http", "https"), shown=shown).rstrip("/")
    parts = urlsplit(value)
    if value and (parts.path or parts.query or parts.fragment):
        raise Problem(
            f"{name} has something after the host, but the portal needs a site of its own.",
            hint="Give it a host of its own, such as https://mayfly.example.org.",
        )
    return value


def store(name: str, default: str) -> str:
    """The address of a Valkey or Redis; its databases are numbers."""
    value = url(name, default, ("redis", "rediss", "unix"), shown="embedded")
    parts = urlsplit(value)
    number = parts.path.strip("/")
    if parts.scheme != "unix" and number and not number.isdecimal():
        raise Problem(
            f"{name} has something other than a database number after the host.",
            hint=f"A database number is the 0 in redis://host:6379/0. {_HIDDEN}",
        )
    return value


def required_in_production(name: str, value: str, what: str) -> None:
    if not value:
        raise Problem(
            f"{name} is not set, and the production profile needs it.", hint=f"It is {what}."
        )


def refuse_unknown() -> None:
    """Stop at a MAYFLY_ variable that nothing reads: it is a misspelt one."""
    for name in sorted(os.environ):
        if name.startswith("MAYFLY_") and name not in KNOBS:
            near = difflib.get_close_matches(name, KNOBS, n=1, cutoff=0.5)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise Problem(
                f"Nothing reads the environment variable {name}.",
                hint=f"{meant}All of them are described in templates/docs/settings.md.",
            )


# A machine that loses power or its network says nothing. Each side gives the other up within half
# a minute: else locks of a transaction that was under way would be held for hours.
_GONE_PEERS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "options": "-c idle_in_transaction_session_timeout=120s -c tcp_keepalives_idle=10s "
    "-c tcp_keepalives_interval=5s -c tcp_keepalives_count=3 -c tcp_user_timeout=25s",
}


def database(address: str) -> dict[str, Any]:
    """Django's description of a database from postgresql://user:password@host:port/name?option."""
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query))
    if not parts.path.strip("/"):
        raise Problem(
            "MAYFLY_DATABASE_URL names no database.", hint="Its form is postgresql://host/name."
        )
    _refuse_strange(options)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.strip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A socket folder travels as ?host=/path, as in libpq.
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": str(parts.port or ""),
        # A connection that the database has dropped, such as at its restart, is noticed and made
        # anew before it is used.
        "CONN_HEALTH_CHECKS": True,
        # Bound on the server, a failing statement's values stay out of PostgreSQL's log.
        "OPTIONS": {
            "server_side_binding": True,
            # Requests run in threads of their own, which take a connection for their time.
            "pool": {"min_size": 1, "max_size": 20, "timeout": 5},
            **_GONE_PEERS,
            **options,
        },
    }


def _refuse_strange(options: dict[str, str]) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import make_conninfo

    try:
        make_conninfo("", **options)
    except (ProgrammingError, TypeError) as error:  # the second of a name that psycopg takes
        said = " ".join(str(error).split())
        raise Problem(
            f"MAYFLY_DATABASE_URL has something behind the ? that does not fit ({said}).",
            hint="There are options of libpq, such as sslmode=require.",
        ) from None


def _has_place(address: str) -> bool:
    """A host and, if any, a port; a folder or file of sockets takes the host's place."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return False
    sockets = "host=" in parts.query or (parts.scheme == "unix" and parts.path)
    return bool(parts.hostname or sockets)


def _read(name: str, kind: str, default: str, *, shown: str = "") -> str:
    KNOBS[name] = Knob(name, kind, shown or default)
    return os.environ.get(name, "").strip() or default
