"""How large everything is that a soak keeps an eye on: tables, files, and Valkey's memory."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from portal.valkey import queue_client


def sizes() -> dict[str, Any]:
    data = Path(settings.DATA)
    return {
        "tables": _tables(),
        "release files": _bytes(data / "releases"),
        "log files": sum(path.stat().st_size for path in data.glob("*.log")),
        "keys": _bytes(Path(settings.KEYS_DIR)),
        "valkey": int(queue_client().info("memory")["used_memory"]),
    }


def _tables() -> dict[str, dict[str, int]]:
    """Rows and bytes by table, indexes included."""
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        cursor.execute(_BYTES[connection.vendor])
        taken = dict(cursor.fetchall())
        found = {}
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')  # noqa: S608 - our own tables
            (rows,) = cursor.fetchone()
            found[name] = {"rows": rows, "bytes": int(taken.get(name, 0))}
    return found


_BYTES = {
    "sqlite": (
        "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name "
        "GROUP BY m.tbl_name"
    ),
    "postgresql": (
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
    ),
}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
