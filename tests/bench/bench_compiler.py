"""What compiling costs: a typical spec, and the worst of many hostile documents of 20 kB."""

import json
import time
from collections.abc import Iterator

import sqlglot

from aggregation.compiler import Compiled, compile_spec
from aggregation.compiler.report import compile_text
from aggregation.protocol.streams import Catalog
from tests.aggregation.compiler.corpus import BASE, cases, catalog
from tests.bench.figures import Figure, seconds_each

FULL = 19_000


def figures() -> Iterator[Figure]:
    yield _typical()
    yield _worst()


def _typical() -> Figure:
    streams = catalog()
    spec = next(c.spec for c in cases("good") if c.name == "basics: the flagship task")
    assert isinstance(compile_spec(spec, streams), Compiled)
    queries = (spec.client_sql or "", spec.server_sql or "")

    def parse_only() -> None:
        for query in queries:
            sqlglot.parse(query, dialect="sqlite")

    ours = seconds_each(lambda: compile_spec(spec, streams), times=20)
    return Figure(
        "compile a typical spec (held below 20 ms)",
        ours * 1e3,
        seconds_each(parse_only, times=20) * 1e3,
        "ms",
        "only parsing its two queries",
    )


def _worst() -> Figure:
    streams = catalog()
    slowest = max(min(_seconds(text, streams) for _ in range(3)) for text in hostile_documents())
    return Figure(
        "the worst 20 kB input (held below 500 ms)", slowest * 1e3, 500, "ms", "the bound"
    )


def _seconds(text: str, streams: Catalog) -> float:
    """Processor time: others on the machine do not make an input slow."""
    began = time.process_time()
    compile_text(text, streams)
    return time.process_time() - began


def hostile_documents() -> Iterator[str]:
    """Documents of about 20 kB that are made to be slow to read, parse, bind or prepare."""
    for query in _slow_queries():
        yield json.dumps({**BASE, "client_sql": query[:FULL]})
    pieces = ["[", "{a: ", "? ", "- ", "a:", "!x ", "&a ", "*a ", "''", "\t", "#", "%", "---\n"]
    yield from ("a: " + piece * (FULL // len(piece)) for piece in pieces)
    yield "\n".join(f"k{i}: 1" for i in range(2400))


def _slow_queries() -> Iterator[str]:
    repeated = ["(", "1+", "NOT ", "a.", "::int", "CASE WHEN 1 THEN ", "STRUCT<", "ARRAY<", "*,"]
    repeated += ["x -> ", "INTERVAL ", "1 BETWEEN 1 AND ", "a LIKE ", "a<", "/* */", "--\n", ";"]
    repeated += ["coalesce(", "(SELECT ", "'x',", '"', "9", "?", "é", "sum(1) over (),", "1 IN ("]
    for piece in repeated:
        yield "SELECT " + piece * (FULL // len(piece))
    ends = " SELECT activity, privacy_time_unit, SUM(n) AS n FROM t25 GROUP BY 1, 2"
    first = "WITH t0 AS (SELECT activity, privacy_time_unit, distance_km AS n FROM trips)"
    for step in ("n * n + n AS n FROM {}", "n FROM {0} WHERE n IN (SELECT n FROM {0})"):
        steps = (
            f", t{i} AS (SELECT activity, privacy_time_unit, {step.format(f't{i - 1}')})"
            for i in range(1, 26)
        )
        yield first + "".join(steps) + ends
    yield "SELECT 1 FROM trips " + "JOIN trips USING (activity) " * 600
    yield "SELECT activity FROM trips WHERE " + " AND ".join(["distance_km > 1"] * 900)
    yield from _copying_queries()


def _copying_queries() -> Iterator[str]:
    """A CASE compares its subject once per branch, and an alias stands for its whole expression."""
    start = "SELECT activity, privacy_time_unit,"
    nested = (" ".join(f"WHEN {i} THEN {i}" for i in range(28)) + " END ") * 7
    yield f"{start} SUM({'CASE ' * 7}distance_km {nested}) AS n FROM trips GROUP BY 1, 2"
    steps = " ".join(f"WHEN distance_km < {i} THEN {i}" for i in range(120))
    bucket = f"{start} CASE {steps} END AS k, COUNT(*) AS n FROM trips"
    yield f"{bucket} WHERE 1 IN ({', '.join(['k'] * 450)}) GROUP BY 1, 2, 3"
    yield f"{bucket} GROUP BY 1, 2, {', '.join(['3'] * 450)}"
