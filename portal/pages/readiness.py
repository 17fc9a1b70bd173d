"""May this front end be given work: is all there that an answer needs? Nothing here ever raises.

Health says how every part is, worker by worker, to whoever has to mend it. Readiness is what a load
balancer or an upgrade waits for before it sends people and devices to a front end that has started.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from portal.pages.health import Part, parts
from portal.tasks.models import Revision

_APPROVING = ("approval-key", "people-key")
_KEYS, _BYTES = (*_APPROVING, "worker-key", "token-key", "release-key"), 32
# Whether everything was applied when it was last looked: the same program on the same database
# does not fall behind again.
_seen = {"complete": False}


@dataclass(frozen=True)
class Need:
    name: str
    ok: bool
    # A sentence: how it is, and if it is missing, what to do.
    detail: str


def needs() -> list[Need]:
    found = {part.name: part for part in parts()}
    database = found["database"]
    return [
        _as_need(database),
        _migrations(database),
        _as_need(found["valkey"]),
        _keys(),
        _as_need(found["heartbeat"]),
    ]


def unapplied_migrations() -> list[str]:
    """Names of what the database lacks for this program; nothing where it does not answer."""
    if _seen["complete"]:
        return []
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseTrouble:
        return []
    _seen["complete"] = not plan
    return [f"{migration.app_label} {migration.name}" for migration, _ in plan]


def key_trouble() -> str:
    """What is wrong with the keys that everything signed needs; empty if nothing is.

    Only looks: asking for a key that is missing would make a new one, and an approval signed with
    another key verifies nowhere.
    """
    folder = Path(settings.KEYS_DIR)
    try:
        sizes = {name: _size(folder / name) for name in _KEYS}
        trouble = _open_to_others()
    except OSError:
        return "The key folder cannot be read. Mount it, and give this user the right to read it."
    for name, size in sizes.items():
        if size not in (None, _BYTES):
            return f"The key file {name} is damaged. Restore it from where you keep keys."
        if size is None and not settings.DEMO:
            return f"{name} is gone: is the right folder mounted as MAYFLY_KEYS_DIR?"
    if sizes["approval-key"] is None and _has_approvals():
        return "The approval key is gone: is the right folder mounted as MAYFLY_KEYS_DIR?"
    return trouble


def can_check_approvals() -> bool:
    """Whether the keys for it are here, and whole; whoever asks without them would make others."""
    folder = Path(settings.KEYS_DIR)
    try:
        return all(_size(folder / name) == _BYTES for name in _APPROVING)
    except OSError:
        return False


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.exists() else None


def _has_approvals() -> bool:
    try:
        return Revision.objects.filter(state=Revision.State.APPROVED).exists()
    except DatabaseTrouble:
        return False


def _open_to_others() -> str:
    mode = os.stat(settings.KEYS_DIR).st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return "The key folder is open to other users. Close it with chmod 700."
    return ""


def _as_need(part: Part) -> Need:
    return Need(part.name, part.ok, part.detail)


def _migrations(database: Part) -> Need:
    if not database.ok:
        return Need("migrations", False, "Nobody can tell: the database does not answer.")
    missing = unapplied_migrations()
    if missing:
        return Need("migrations", False, f"Not applied: {missing[0]}. Run `manage.py prepare`.")
    return Need("migrations", True, "The database has everything that this program needs.")


def _keys() -> Need:
    trouble = key_trouble()
    return Need("keys", not trouble, trouble or "Keys are here, and only this user can read them.")
