"""Proxy events stay where they are: only numbers leave, and bad files get a sentence."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit
from portal.lab.calibrating import load_result
from portal.lab.calibrating.world import homes, usual_window, world_events, world_of

COLUMNS = [
    "device",
    "time",
    "region",
    "country",
    "activity",
    "direction",
    "distance_km",
    "duration_min",
]


@pytest.fixture(autouse=True)
def nothing_installed(settings, tmp_path) -> None:
    """Where the data is there need be no portal: the shipped streams are those of the world."""
    settings.DATA = tmp_path


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> Path:
    """A week of 2,400 phones of one region, as a file."""
    window = usual_window(Unit.WEEK)
    world = world_of(5, homes=homes(5, [1])[0], per_region=2400)
    path = tmp_path_factory.mktemp("proxy") / "trips.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        everybody = world_events(world, ["trips"], window, range(world.phones))
        for device, happened in enumerate(everybody):
            for event in happened.get("trips", ()):
                time = datetime.fromtimestamp(event.time, UTC).isoformat()
                writer.writerow([f"device-{device}-secret", time, *event.values])
    return path


def run(capsys, path: Path, **options: object) -> str:
    given = {"kind": "declared proxy", "source": "A test's phones", "fit": "group_scaling_grid"}
    call_command("calibrate", task="weekly-trips", events=path, **{**given, **options})
    return capsys.readouterr().out


def test_it_works(capsys, events):
    text = run(capsys, events)
    mechanism, provenance = load_result(text)
    assert type(mechanism).__name__ == "GroupScaling"
    assert provenance.kind == "declared proxy"
    assert provenance.source == "A test's phones"
    assert provenance.window == "2026-11-09"
    assert provenance.devices == 2400
    assert provenance.seed is None
    assert not provenance.quality.on_others
    assert "secret" not in text


def test_the_database_is_not_asked(capsys, events):
    """Tests without the mark for it have no database at all: a query would raise."""
    with pytest.raises(RuntimeError, match="Database access not allowed"):
        connection.ensure_connection()
    assert json.loads(run(capsys, events))


def test_events_need_to_say_what_they_are(capsys, events):
    with pytest.raises(Problem, match="need --kind and --source"):
        run(capsys, events, source="")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "cannot be read"),
        ("device,time\n1,2026-11-09T08:00:00Z\n", "has no column 'region'"),
        (",".join(COLUMNS) + "\n", "has no events"),
        (
            ",".join(COLUMNS) + "\n1,2026-11-09T08:00:00Z,nowhere,DE,walking,within,1,10\n",
            "row 1: region 'nowhere'",
        ),
        (
            ",".join(COLUMNS) + "\n1,soon,2950159,DE,walking,within,1,10\n",
            "row 1: time 'soon' is not a time",
        ),
        (
            ",".join(COLUMNS) + "\n1,2026-11-09T08:00:00Z,2950159,DE,walking,within,1,10\n",
            "No cell of the proxy data has 2,000 devices",
        ),
    ],
)
def test_bad_files_get_a_sentence(capsys, tmp_path, content, sentence):
    path = tmp_path / "trips.csv"
    path.write_text(content)
    with pytest.raises(Problem, match=sentence):
        run(capsys, path)


def test_smaller_cells_count_where_that_is_said(capsys, events):
    few = json.loads(run(capsys, events, fit="rotated", least_devices=200, processes=1))
    assert few["provenance"]["quality"]["least_devices"] == 200
    assert few["provenance"]["quality"]["mean"] < few["provenance"]["quality"]["best_scaling"]
    with pytest.raises(Problem, match="at least one device, not 0"):
        run(capsys, events, least_devices=0)


def test_a_window_without_events_is_said(capsys, events):
    with pytest.raises(Problem, match="no device that would contribute"):
        run(capsys, events, window="2026-11-16")
    with pytest.raises(Problem, match="is not the id of a week window"):
        run(capsys, events, window="tomorrow")
    with pytest.raises(Problem, match="There is no file"):
        run(capsys, events.with_name("other.csv"))
