"""Event files: read as they are, and each thing that can be wrong with one told with its row."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from aggregation.errors import Problem
from aggregation.ondevice.events import Event
from aggregation.protocol.streams import Catalog
from devices_sim.fleet.event_file import read_events
from devices_sim.fleet.recording import Recording

HEAD = "device,time,region,country,activity,direction,distance_km,duration_min"
GOOD = "a,2026-11-09T08:30:00Z,1001,DE,driving,within,8.5,16"
AT = datetime(2026, 11, 9, 8, 30, tzinfo=UTC).timestamp()
LATER = 1e12


def csv(folder: Path, *rows: str, head: str = HEAD) -> Path:
    path = folder / "trips.csv"
    path.write_text("\n".join([head, *rows, ""]))
    return path


def events(recording: Recording, device: int = 0) -> list[Event]:
    return recording.between(device, 0.0, LATER, shift=0.0)


def test_it_works(tmp_path: Path, catalog: Catalog) -> None:
    rows = [
        "b,2026-11-09T09:00:00Z,1002,DE,bus,inbound,2,7.5",
        GOOD,
        "b,2026-11-09T08:00:00Z,1003,FR,walking,within,0,0",
    ]
    recording = read_events(csv(tmp_path, *rows), "trips", catalog)
    assert (recording.devices, len(recording)) == (2, 3)
    assert [event.values[0] for event in events(recording)] == ["1003", "1002"]  # in time's order
    assert events(recording, 1) == [Event(AT, 0, ("1001", "DE", "driving", "within", 8.5, 16.0))]


def test_parquet_is_read_with_its_own_types(tmp_path: Path, catalog: Catalog) -> None:
    moment = datetime(2026, 11, 9, 8, 30, tzinfo=UTC)
    columns: dict[str, Any] = {
        "device": [17, 17, 4],
        "time": pa.array([moment] * 3, pa.timestamp("ms", tz="Europe/Berlin")),
        "utc_offset": pa.array([3600, -3600, 0], pa.int32()),
        "region": [1001, 1002, 1003],  # as numbers: the stream says text
        "country": pa.array(["DE"] * 3).dictionary_encode(),
        "activity": ["driving"] * 3,
        "direction": ["within"] * 3,
        "distance_km": pa.array([1, 2, 3], pa.int64()),
        "duration_min": pa.array([1.0, 2.0, 3.0], pa.float32()),
        "weather": ["sun"] * 3,  # not of the stream: ignored
    }
    path = tmp_path / "trips.parquet"
    pyarrow.parquet.write_table(pa.table(columns), path)
    recording = read_events(path, "trips", catalog)
    first = events(recording)[0]
    assert first == Event(AT, 3600, ("1001", "DE", "driving", "within", 1.0, 1.0))
    assert recording.devices == 2


@pytest.mark.parametrize(
    ("time", "offset"),
    [
        ("2026-11-09T08:30:00Z", 0),
        ("2026-11-09 08:30", 0),
        ("2026-11-09T10:30:00+02:00", 7200),
        ("2026-11-09T03:30:00-05:00", -18_000),
        (str(int(AT)), 0),
        (f"{AT}", 0),
    ],
)
def test_times_are_moments(tmp_path: Path, catalog: Catalog, time: str, offset: int) -> None:
    path = csv(tmp_path, GOOD.replace("2026-11-09T08:30:00Z", time))
    (event,) = events(read_events(path, "trips", catalog))
    assert (event.time, event.utc_offset) == (AT, offset)


def test_empty_is_null_where_a_column_allows_it(tmp_path: Path, catalog: Catalog) -> None:
    path = tmp_path / "uses.csv"
    path.write_text(
        "device,time,feature,outcome,rating,latency_ms\n"
        'a,2026-11-09T08:30Z,reply,accepted,"",80\n'
        "a,2026-11-09T08:31Z,reply,accepted,5,80\n"
    )
    found = events(read_events(path, "assistant", catalog))
    assert [event.values[2] for event in found] == [None, 5]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (GOOD.replace("1001", "9999"), "row 2: region '9999' is not in the column's domain."),
        (GOOD.replace("driving", "flight"), "row 2: activity 'flight' is not in the column's"),
        (GOOD.replace("driving", ""), "row 2: activity is empty."),
        (GOOD.replace("8.5", "-1"), "row 2: distance_km '-1.0' is not a number from 0 on."),
        (GOOD.replace("8.5", "nan"), "row 2: distance_km 'nan' is not a number from 0 on."),
        (GOOD.replace("8.5", "far"), "row 2: distance_km 'far' is not a number."),
        (GOOD.replace("2026-11-09T08:30:00Z", "09.11.2026"), "row 2: time '09.11.2026' is not a"),
        (GOOD.replace("2026-11-09T08:30:00Z", ""), "row 2: time is not a time. Give one such as"),
        (GOOD.replace("2026-11-09T08:30:00Z", "1e300"), "row 2: time '1e300' is not a time."),
        ("," + GOOD.split(",", 1)[1], "row 2: device is empty."),
    ],
)
def test_what_is_wrong_is_told_with_its_row(
    tmp_path: Path, catalog: Catalog, row: str, sentence: str
) -> None:
    with pytest.raises(Problem) as problem:
        read_events(csv(tmp_path, GOOD, row, GOOD), "trips", catalog)
    assert f"trips.csv, {sentence}" in str(problem.value)


@pytest.mark.parametrize("offset", ["1.5", "70000", "", "+1"])
def test_offsets_are_seconds(tmp_path: Path, catalog: Catalog, offset: str) -> None:
    path = csv(tmp_path, f"{GOOD},3600", f"{GOOD},{offset}", head=f"{HEAD},utc_offset")
    with pytest.raises(Problem, match=r"row 2: utc_offset"):
        read_events(path, "trips", catalog)


def test_whole_numbers_are_whole(tmp_path: Path, catalog: Catalog) -> None:
    path = tmp_path / "uses.csv"
    path.write_text(
        "device,time,feature,outcome,rating,latency_ms\na,2026-11-09T08:30Z,reply,accepted,4.5,80\n"
    )
    with pytest.raises(Problem, match=r"row 1: rating '4.5' is not a whole number\."):
        read_events(path, "assistant", catalog)


def test_a_missing_column_is_named(tmp_path: Path, catalog: Catalog) -> None:
    path = csv(tmp_path, "a,2026-11-09T08:30Z,1001", head="device,time,region")
    with pytest.raises(Problem, match=r"has no column 'country'\. It needs device, time, region"):
        read_events(path, "trips", catalog)


@pytest.mark.parametrize(
    ("name", "contents", "sentence"),
    [
        ("trips.csv", HEAD + "\n", "trips.csv has no events."),
        ("trips.csv", "", "trips.csv cannot be read: "),
        ("trips.csv", HEAD + "\na,b\n", "trips.csv cannot be read: "),
        ("trips.parquet", "no parquet", "trips.parquet cannot be read: "),
        ("trips.xlsx", "", "trips.xlsx is neither .parquet nor .csv. Name it by what it is."),
    ],
)
def test_what_is_no_event_file_is_told_so(
    tmp_path: Path, catalog: Catalog, name: str, contents: str, sentence: str
) -> None:
    (tmp_path / name).write_text(contents)
    with pytest.raises(Problem) as problem:
        read_events(tmp_path / name, "trips", catalog)
    assert str(problem.value).startswith(sentence)


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(Problem, match="There is no file"):
        read_events(tmp_path / "trips.csv", "trips", catalog)


def test_a_stream_that_is_not_there_is_told_so(tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(Problem, match=r"no stream 'trip'\. It has assistant, trips\."):
        read_events(csv(tmp_path, GOOD), "trip", catalog)


def test_events_come_as_the_clock_comes_to_them(tmp_path: Path, catalog: Catalog) -> None:
    rows = [GOOD.replace("08:30", f"0{hour}:30") for hour in (5, 6, 7, 8)]
    recording = read_events(csv(tmp_path, *rows), "trips", catalog)
    assert len(recording.between(0, 0.0, AT - 3600, shift=0.0)) == 2
    assert len(recording.between(0, AT - 3600, AT - 1, shift=0.0)) == 1
    found = recording.between(0, AT, AT + 3601, shift=3600.0)
    assert [event.time for event in found] == [AT, AT + 3600]
    assert recording.until(AT - 3600) == 3


def test_it_tells_nothing_of_its_contents(tmp_path: Path, catalog: Catalog) -> None:
    recording = read_events(csv(tmp_path, GOOD), "trips", catalog)
    assert repr(recording) == "Recording(1 devices, contents withheld)"
