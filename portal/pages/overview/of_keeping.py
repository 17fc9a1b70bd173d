"""What has to be kept: room on disks, keys, the audit chain, the time, and messages to people."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import redis
from django.conf import settings
from django.urls import reverse

from aggregation.errors import Problem
from portal import heartbeats
from portal.audit import witness
from portal.audit.selectors import latest_verification
from portal.clock_skew import noted_ahead
from portal.notifications.models import Delivery
from portal.pages import health
from portal.pages.overview.finding import Finding, Findings, Seen, Source
from portal.pages.readiness import key_trouble
from portal.streams.selectors import installed_catalog
from portal.valkey import queue_client

# Free on a disk: below the first it is time, below the second releases may fail any moment.
_FREE_SOON, _FREE_NOW = 0.10, 0.03
_VALKEY_NEARLY_FULL = 0.8


def full_disks(seen: Seen) -> Findings:
    folders = {"data": settings.DATA, "key": settings.KEYS_DIR, "releases": settings.RELEASES_DIR}
    for name, folder in folders.items():
        if folder is None:  # in the data folder
            continue
        free = free_share(folder)
        if free is None or free >= _FREE_SOON:
            continue
        yield Finding(
            kind="disk-full",
            subject=name,
            weight="bad" if free < _FREE_NOW else "warning",
            title=f"The disk of the {name} folder is {100 * (1 - free):.0f} % full",
            meaning="On a full disk no release is stored and no key is made: windows stay due and "
            "partials may expire meanwhile.",
            remedy="Make room, or move the folder to a larger disk. Files of old releases can be "
            "taken away: they are made again from the database.",
            command=f"df -h {folder}",
        )


def valkey_memory(seen: Seen) -> Findings:
    try:
        info = queue_client().info("memory")
    except (redis.RedisError, OSError):
        return
    used, most = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    if most and used >= _VALKEY_NEARLY_FULL * most:
        yield Finding(
            kind="queues-memory",
            weight="bad",
            title=f"The memory of the queues is {100 * used / most:.0f} % full",
            meaning="When it is full, uploads are refused with 503 until sessions have taken some.",
            remedy="Raise its maxmemory, or start more session workers.",
        )


def keys(seen: Seen) -> Findings:
    if trouble := key_trouble():
        yield Finding(
            kind="keys",
            weight="bad",
            title="Keys are missing, damaged or open to others",
            meaning="Without them nothing is approved, sent or released; anyone else who "
            "can read them can read partials and approve tasks.",
            remedy=trouble,
        )


def keys_beside_data(seen: Seen) -> Findings:
    if not settings.DEMO and Path(settings.KEYS_DIR).is_relative_to(settings.DATA):
        yield Finding(
            kind="keys-beside-data",
            weight="warning",
            title="The key folder is inside the data folder",
            meaning="A backup of the data folder would take the keys along, and partials that were "
            "erased could be read from it for ever.",
            remedy="Give keys a place of their own with MAYFLY_KEYS_DIR, and never back it up.",
            link=reverse("docs_page", args=["settings"]),
            link_words="Settings",
        )


def forgetful_database(seen: Seen) -> Findings:
    if trouble := witness.trouble():
        yield Finding(
            kind="database-behind",
            weight="bad",
            title="Nothing is collected or released",
            meaning="The database lacks what happened since a backup was made, or it is not "
            "known whether it does. It would release windows a second time, and charge devices "
            "twice; so nothing is collected, merged, released, erased or approved.",
            remedy=trouble,
            link=reverse("docs_page", args=["operations"]) + "#restoring",
            link_words="Restoring",
        )


def audit_chain(seen: Seen) -> Findings:
    found = latest_verification()
    part = health.chain(found)
    if part.ok:
        return
    is_broken = bool(found and found.problem)
    yield Finding(
        kind="audit-broken" if is_broken else "audit-old",
        weight="bad" if is_broken else "warning",
        title="The audit log is broken" if is_broken else "The audit log is not verified",
        meaning="Somebody changed or removed entries behind the program's back."
        if is_broken
        else "Nobody would notice if entries were changed.",
        remedy=part.detail,
        link=reverse("audit"),
        link_words="Audit log",
        since=found.at if found else None,
    )


def clocks(seen: Seen) -> Findings:
    """Time that ran back, here or between machines: windows are opened and closed by it."""
    if latest := noted_ahead(seen.now):
        yield Finding(
            kind="clock-behind",
            weight="bad",
            title="This machine's clock is behind, or another's is ahead",
            meaning=f"Something was written at {latest:%d %b %Y, %H:%M:%S} UTC, which by "
            "this machine's clock is still to come: a clock was set back, or machines disagree. "
            "Windows open and close, and partials expire, by this clock. No window is released "
            "twice, whatever the clock shows, and nothing is approved here meanwhile.",
            remedy="See that NTP runs on every machine. An entry written ahead of time still "
            "counts until a hundred more follow it in the audit log.",
            command="timedatectl status",
        )


def clock_jumps(seen: Seen) -> Findings:
    try:
        jump = heartbeats.latest_jump()
    except (redis.RedisError, OSError):
        return
    if jump is None:
        return
    way = "forward" if jump.seconds > 0 else "back"
    yield Finding(
        kind="clock-jumped",
        weight="warning",
        title=f"A worker's clock jumped {way} by {abs(jump.seconds):,.0f} s",
        meaning="Windows that ended meanwhile close and are released early or late; what expired "
        "is erased for good.",
        remedy="See that NTP runs on its machine and that the machine was not suspended. This line "
        "goes by itself after a day.",
        command="timedatectl status",
        since=datetime.fromtimestamp(jump.at, UTC),
    )


def messages(seen: Seen) -> Findings:
    for channel in Delivery.Channel:
        rows = Delivery.objects.filter(channel=channel)
        failed = rows.filter(state=Delivery.State.FAILED)
        trying = rows.filter(state=Delivery.State.QUEUED, attempts__gte=1).exclude(error="")
        count, waiting = failed.count(), trying.count()
        if not count and not waiting:
            continue
        row = failed.order_by("settled_at").first() or trying.order_by("due_at").first()
        yield Finding(
            kind="messages-failing",
            subject=channel,
            weight="warning",
            title=f"{channel.label}: {count:,} given up, {waiting:,} tried again",
            meaning="People do not hear of what concerns them outside the portal.",
            remedy=(f"The last reason was: {row.error} " if row and row.error else "")
            + "Mend the server it goes to, then send again what was given up.",
            link=reverse("deliveries"),
            link_words="Deliveries",
            since=row.settled_at if row else None,
        )


def updates_at_rest(seen: Seen) -> Findings:
    for check in seen.sessions.checks:
        if not check.ok and seen.part("valkey").ok:
            yield Finding(
                kind="updates-at-rest",
                subject=check.title,
                weight="bad",
                title=f"Not so: {check.title[0].lower()}{check.title[1:]}",
                meaning="What single devices sent may be on a disk or on another machine, which it "
                "never should be.",
                remedy=check.detail,
                link=reverse("sessions"),
                link_words="Sessions",
            )


def streams(seen: Seen) -> Findings:
    try:
        installed_catalog()
    except Problem as problem:
        yield Finding(
            kind="streams-missing",
            weight="bad",
            title=problem.message,
            meaning="No task can be written, run or released without them.",
            remedy=problem.hint,
            command="python manage.py install_streams",
        )


def free_share(folder: Path) -> float | None:
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return usage.free / usage.total if usage.total else None


SOURCES: list[Source] = [
    updates_at_rest,
    forgetful_database,
    audit_chain,
    keys,
    full_disks,
    valkey_memory,
    clocks,
    streams,
    clock_jumps,
    messages,
    keys_beside_data,
]
