"""Queries straight at the sandbox, over a few rows."""

from aggregation.ondevice.sandbox import Row, Sandbox, Table

TRIPS = Table("trips", {"region": "TEXT", "activity": "TEXT", "distance_km": "REAL"})
OTHER = Table("assistant", {"feature": "TEXT"})
ROWS: dict[str, list[Row]] = {
    "trips": [("1001", "driving", 12.5), ("1001", "driving", 7.5), ("1002", "bus", 3.0)],
    "assistant": [("reply",)],
}


def run(sql: str, *, columns: int = 1, max_rows: int = 100, rows: int = 0) -> list[Row]:
    tables = dict(ROWS)
    if rows:
        tables["trips"] = [(str(n % 7), "bus", float(n)) for n in range(rows)]
    return Sandbox([TRIPS, OTHER], sql, max_rows=max_rows).run(tables, columns=columns)
