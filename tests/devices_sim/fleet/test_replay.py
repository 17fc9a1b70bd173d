"""A data set through real phones over real HTTP, as the portal's clock runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from aggregation.clock import SimulatedClock
from aggregation.errors import Problem
from aggregation.protocol.anonymization import GRID
from aggregation.protocol.streams import Catalog
from devices_sim.fleet import replay as driver
from devices_sim.fleet.replay import weeks_to_move
from devices_sim.fleet.report import Report, percentile
from tests.aggregation.ondevice.examples import client_task
from tests.devices_sim.peer import Peer
from tests.devices_sim.peer_api import Fault, served_apart

START = datetime(2026, 11, 8, 20, tzinfo=UTC)  # an hour or four before a week begins
ONE_TRIP = GRID // 1024
HEAD = "device,time,region,country,activity,direction,distance_km,duration_min"


@pytest.fixture
def data(tmp_path: Path, catalog: Catalog, settings: Any) -> Path:
    settings.DATA, settings.CLOCK = tmp_path, "simulated"
    settings.CLOCK_FILE = tmp_path / "clock.json"
    catalog.write(tmp_path / "streams")
    SimulatedClock(settings.CLOCK_FILE).start(START, speed=0)
    return tmp_path


def make_file(folder: Path, *, devices: int, weeks: int) -> tuple[Path, Counter[int]]:
    """Trips of zero length in 2024; and how many there are in each week."""
    rng, rows, truth = Random(5), [HEAD], Counter[int]()
    for device in range(devices):
        for _ in range(rng.randint(1, 6)):
            seconds = rng.randrange(weeks * 7 * 86_400)
            moment = datetime(2024, 3, 4, tzinfo=UTC) + timedelta(seconds=seconds)
            region = 1001 + rng.randrange(12)
            rows.append(f"secret-{device},{moment.isoformat()},{region},DE,bus,within,0,0")
            truth[seconds // (7 * 86_400)] += 1
    path = folder / "trips.csv"
    path.write_text("\n".join(rows))
    return path, truth


class FlushingPeer(Peer):
    """Ends a session once it is asked how an update fared, as if its time had come."""

    def status(self, session_id: str, update: str) -> Any:
        session = self.sessions.get(session_id)
        if session is not None and not session.over:
            self.flush(session)
        return super().status(session_id, update)


@pytest.fixture
def replayed(
    data: Path, catalog: Catalog, settings: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., tuple[Peer, str]]]:
    monkeypatch.setattr(driver, "NOTICED_SECONDS", 0.2)

    def run(*arguments: str, fault: Fault = lambda number, name: "", **file: int) -> Any:
        path, truth = make_file(data, **file)
        peer = FlushingPeer(SimulatedClock(settings.CLOCK_FILE))
        peer.hint = (6 * 3600, 12 * 3600)
        # A long grace: the clock runs by machine time, and the machine may be busy.
        peer.add(
            "weekly-trips", client_task(catalog), approved_at=START - timedelta(days=1),
            grace_hours=5 * 168,
        )  # fmt: skip
        with served_apart(peer, fault) as url:
            call_command(
                "fleet",
                f"--events={path}",
                "--stream=trips",
                f"--url={url}",
                "--linger-days=30",
                *arguments,
            )
        return peer, truth, capsys.readouterr().out

    return run


def counted(peer: Peer) -> list[int]:
    return [
        sum(int(part.values.sum()) for part in parts) // ONE_TRIP
        for _, parts in sorted(peer.counted.items())
    ]


def test_it_works(replayed: Any, data: Path) -> None:
    peer, truth, said = replayed("--speed=200000", devices=40, weeks=2)
    assert counted(peer) == [truth[0], truth[1]]
    assert "40 devices" in said
    assert "moved by 140 weeks" in said
    assert f"windows counted: {sum(len(parts) for parts in peer.counted.values())}," in said
    assert "40 of 40 phones done" in said
    assert "bytes per query, p50 and p95:" in said
    assert SimulatedClock(data / "clock.json").speed == 0  # as it was


def test_device_ids_never_leave(replayed: Any) -> None:
    seen: list[bytes] = []
    peer, _, said = replayed("--speed=400000", devices=5, weeks=1)
    for session_id, update, sealed in peer.arrived:
        seen += [session_id.encode(), update.encode(), sealed]
    assert "secret" not in said
    assert not any(b"secret" in each for each in seen)
    assert peer.active == 5


def test_lost_answers_count_once(replayed: Any) -> None:
    peer, truth, _ = replayed(
        "--speed=200000",
        fault=lambda number, name: "answer" if name == "upload" and number % 3 == 0 else "",
        devices=12,
        weeks=1,
    )
    assert counted(peer) == [truth[0]]


def test_a_population_that_is_not_known_is_told(replayed: Any) -> None:
    peer, _, said = replayed(
        "--speed=2000000", "--linger-days=0", "--population=" + "x" * 65, devices=2, weeks=1
    )
    assert "× The server declined." in said
    assert peer.arrived == []


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        (["--speed=0"], CommandError, "'0' is not a speed"),
        (["--speed=fast"], CommandError, "'fast' is not a speed"),
        (["--linger-days=-1"], CommandError, "'-1' is not a number of days"),
        ([], Problem, "The portal's clock stands still, so no window would ever end."),
        (["--speed=10", "--url=http://127.0.0.1:1"], Problem, "No portal answers at http"),
    ],
)
def test_what_cannot_work_is_told(
    data: Path, arguments: list[str], error: type[Exception], sentence: str
) -> None:
    path, _ = make_file(data, devices=1, weeks=1)
    with pytest.raises(error, match=sentence):
        call_command("fleet", f"--events={path}", "--stream=trips", *arguments)
    assert SimulatedClock(data / "clock.json").speed == 0


def test_a_speed_is_for_a_simulated_clock(data: Path, settings: Any) -> None:
    settings.CLOCK = "system"
    path, _ = make_file(data, devices=1, weeks=1)
    with pytest.raises(Problem, match="MAYFLY_CLOCK=simulated"):
        call_command("fleet", f"--events={path}", "--stream=trips", "--speed=10")


MONDAY = datetime(2026, 11, 9, tzinfo=UTC).timestamp()
WEEK = 7 * 86_400


@pytest.mark.parametrize(
    ("first", "now", "weeks"),
    [
        (MONDAY, MONDAY - 1, 0),
        (MONDAY + 3600, MONDAY - 1, 0),
        (MONDAY - 1, MONDAY - 1, 1),
        (MONDAY, MONDAY, 1),
        (MONDAY + 5 * WEEK, MONDAY, 0),
        (MONDAY - 100 * WEEK + 5, MONDAY - 5, 100),
    ],
)
def test_events_move_by_whole_weeks_into_a_week_to_come(
    first: float, now: float, weeks: int
) -> None:
    assert weeks_to_move(first, now) == weeks
    moved = first + weeks * WEEK
    assert moved > now


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([5], 0.5, 5),
        ([1, 2], 0.5, 1),
        ([1, 2, 3], 0.5, 2),
        (range(1, 101), 0.95, 95),
        ([7] * 9, 0.9, 7),
    ],
)
def test_percentiles_are_values_that_occurred(
    values: Iterable[int], share: float, expected: int
) -> None:
    assert percentile(Counter(values), share) == expected


def test_an_empty_report_can_be_told() -> None:
    assert next(Report().lines()) == "0 phones, 0 events, 0 wake-ups"
