"""Mutants: specs with words swapped, lost and spliced. What is accepted keeps the contract.

For each accepted mutant the canonical query runs on random rows, once bare in the sandbox (so that
a hole in the compiler shows before the device's own checks hide it) and once as a device does.
"""

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec import UNSET

from aggregation.compiler import Compiled, compile_spec
from aggregation.ondevice.events import Event, StreamLoader, event_columns
from aggregation.ondevice.execute import PreparedTask
from aggregation.ondevice.sandbox import QueryFailed, Sandbox
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.client_task import ClientTask, Step
from aggregation.protocol.ranks import Cells
from aggregation.protocol.windows import Window
from tests.aggregation.compiler.corpus import Case, cases, catalog

CATALOG = catalog()
MOMENT = datetime(2026, 11, 11, 10, tzinfo=UTC)
SIZES = {"everyday": 600, "full": 20_000}
PARTS = ("sql", "client_sql", "server_sql")
WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[A-Za-z_]\w*|\d+\.?\d*|\s+|.", re.S)


def test_whatever_is_accepted_keeps_the_output_contract(size: str) -> None:
    rng = random.Random(3)
    accepted = 0
    for case in _mutants(rng, SIZES[size]):
        result = compile_spec(case.spec, CATALOG)
        assert all(d.rule != "internal" for d in result.diagnostics), case.document
        if isinstance(result, Compiled):
            accepted += 1
            warned = any(d.rule == "key_may_be_empty" for d in result.diagnostics)
            _check(result.client_task, rng, case, warned=warned)
    # A test that accepts nothing would test nothing.
    assert accepted > SIZES[size] / 20


def _mutants(rng: random.Random, count: int) -> Iterator[Case]:
    good, hostile = cases("good"), cases("hostile")
    queries = [c.document[p] for c in (*good, *hostile) for p in PARTS if p in c.document]
    pool = [WORD.findall(q) for q in queries if len(q) < 2000]
    for number in range(count):
        case = rng.choice(good)
        part = rng.choice([p for p in PARTS if p in case.document])
        words = WORD.findall(case.document[part])
        for _ in range(rng.choice([1, 1, 2, 3])):
            words = _mutated(rng, words, pool)
        document = {**case.document, part: "".join(words)}
        yield Case(f"mutant {number} of {case.name}", document)


def _mutated(rng: random.Random, words: list[str], pool: list[list[str]]) -> list[str]:
    places = [i for i, w in enumerate(words) if not w.isspace()]
    if not places:
        return words
    at, donor = rng.choice(places), rng.choice(pool)
    match rng.randrange(6):
        case 0:
            return [*words[:at], *words[at + 1 :]]
        case 1:
            other = rng.choice(places)
            swapped = list(words)
            swapped[at], swapped[other] = words[other], words[at]
            return swapped
        case 2:
            start = rng.randrange(len(donor))
            return [*words[:at], " ", *donor[start : start + rng.randrange(1, 9)], " ", *words[at:]]
        case _:
            alike = [w for w in donor if w and _kind(w) == _kind(words[at])]
            return [*words[:at], rng.choice(alike or ["1"]), *words[at + 1 :]]


def _kind(word: str) -> str:
    first = word[0]
    if first.isalpha() or first == "_":
        return "keyword" if word.isupper() else "name"
    return "number" if first.isdigit() else "text" if first in "'\"" else "sign"


def _check(task: ClientTask, rng: random.Random, case: Case, *, warned: bool) -> None:
    window = Window.containing(MOMENT, task.window_unit)
    events = {name: _events(rng, name, window) for name in task.reads}
    cells = Cells.of(task.keys, CATALOG.domain)
    asked = Cells.of(_asked(task).keys, CATALOG.domain)
    count = len(asked.names)
    for row in _bare(task, events, window):
        keys, stamp, metrics = row[:count], row[count], row[count + 1 :]
        assert stamp == window.id, case.document
        for value, domain in zip(keys, asked.domains, strict=True):
            assert (value is None and warned) or value in domain, (case.document, value)
        assert all(v is None or type(v) in (int, float) for v in metrics), (case.document, metrics)
    part = PreparedTask(task, CATALOG).execute(events, window)
    assert (np.diff(part.ranks.astype(np.int64)) > 0).all()
    assert (part.ranks < cells.size).all()
    assert sum(abs(int(v)) for v in part.values.ravel()) <= GRID


def _asked(task: ClientTask) -> ClientTask | Step:
    """What has the keys and metrics of the query: a step's are those before it."""
    return task if task.step is UNSET else task.step


def _bare(task: ClientTask, events: dict[str, list[Event]], window: Window) -> list[Any]:
    """The rows of the canonical query; nothing where SQLite gives up, as a device would."""
    loaders = {n: StreamLoader(CATALOG.stream(n), r) for n, r in task.reads.items()}  # type: ignore[arg-type]
    sandbox = Sandbox([x.table for x in loaders.values()], task.sql, max_rows=10_000)
    rows = {name: loader.rows(events[name], window) for name, loader in loaders.items()}
    try:
        columns = len(_asked(task).keys) + 1 + len(_asked(task).metrics)
        return list(sandbox.run(rows, columns=columns))
    except QueryFailed:
        return []


def _events(rng: random.Random, name: str, window: Window) -> list[Event]:
    stream = CATALOG.stream(name)
    assert stream is not None
    length = (window.end - window.start).total_seconds()
    return [
        Event(
            window.start.timestamp() + rng.random() * length,
            rng.choice([-18000, 0, 3600]),
            tuple(_value(rng, stream.column(c)) for c in event_columns(stream)),
        )
        for _ in range(rng.choice([0, 1, 4, 12]))
    ]


def _value(rng: random.Random, column: Any) -> Any:
    if column.nullable and rng.random() < 0.3:
        return None
    if column.domain is not None:
        return rng.choice(list(CATALOG.domain(column.domain)))
    if column.type == "text":
        return "a secret"
    return rng.choice([0, 0.25, 3, 17.5, 1e3, 1e300])
