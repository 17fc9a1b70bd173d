import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from aggregation.protocol.shipped import shipped_catalog
from aggregation.protocol.streams import Catalog
from portal.streams.geography import REGIONS_SHA256, Geography, Source
from portal.streams.services import install_streams
from tests.parts import ROOT

_INSTALL_FEW = """
import sys, msgspec
from pathlib import Path
from portal.streams.geography import Geography, Source
from portal.streams.services import install_streams
source = Source.holding(msgspec.json.decode(sys.stdin.buffer.read(), type=Geography))
done = install_streams(folder=Path(sys.argv[1]), tell=lambda s: None, source=source)
print("built" if done.built else "checked", flush=True)
"""


def quietly(sentence: str) -> None:
    """Tell nobody."""


def test_it_installs_and_then_only_checks(tmp_path: Path, few_places: Source) -> None:
    told: list[str] = []
    first = install_streams(folder=tmp_path / "streams", tell=told.append, source=few_places)
    assert first.built
    assert told == [f"The streams are not installed in {tmp_path}/streams yet: they are built now."]
    before = _snapshot(tmp_path)
    second = install_streams(folder=tmp_path / "streams", tell=told.append, source=few_places)
    assert not second.built
    assert len(told) == 1
    assert _snapshot(tmp_path) == before
    assert first.catalog.sha256 == second.catalog.sha256


def test_the_real_streams_are_built_once(world: Path) -> None:
    assert not install_streams(folder=world / "streams", tell=quietly).built


def test_the_real_regions_are_installed_under_their_hash(world: Path) -> None:
    catalog = Catalog.open(world / "streams")
    trips = catalog.stream("trips")
    assert trips is not None
    region = trips.column("region")
    assert region is not None
    assert region.domain == REGIONS_SHA256
    assert len(catalog.domain(REGIONS_SHA256)) == 50_000
    assert catalog.domain(REGIONS_SHA256)[0] == "1796236"


def test_two_folders_get_the_same_catalog(tmp_path: Path, few_places: Source) -> None:
    made = [
        install_streams(folder=tmp_path / name, tell=quietly, source=few_places).catalog.sha256
        for name in ("one", "two")
    ]
    assert made[0] == made[1]


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def _one_bit(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [_cut_off, _one_bit, _emptied, Path.unlink])
@pytest.mark.parametrize("name", ["catalog.json", "installed.json", "places.sqlite", "domain"])
def test_what_is_damaged_or_missing_is_built_again_with_a_sentence(
    tmp_path: Path, few_places: Source, name: str, damage: Callable[[Path], object]
) -> None:
    install_streams(folder=tmp_path, tell=quietly, source=few_places)
    whole = _snapshot(tmp_path)
    damage(_domain_file(tmp_path) if name == "domain" else tmp_path / name)
    told: list[str] = []
    assert install_streams(folder=tmp_path, tell=told.append, source=few_places).built
    assert len(told) == 1
    assert told[0].startswith(("The file ", "The domain file ", "The streams are not installed"))
    assert told[0].endswith(("built again.", "they are built now."))
    assert not install_streams(folder=tmp_path, tell=quietly, source=few_places).built
    assert _snapshot(tmp_path) == whole


def test_a_catalog_that_was_changed_by_hand_is_built_again(
    tmp_path: Path, few_places: Source
) -> None:
    install_streams(folder=tmp_path, tell=quietly, source=few_places)
    document = json.loads((tmp_path / "catalog.json").read_text())
    document["trips"]["ttl_days"] = 3650
    (tmp_path / "catalog.json").write_text(json.dumps(document))
    told: list[str] = []
    catalog = install_streams(folder=tmp_path, tell=told.append, source=few_places).catalog
    assert "was changed" in told[0]
    trips = catalog.stream("trips")
    assert trips is not None
    assert trips.ttl_days == 30


def test_streams_of_another_version_are_replaced(
    tmp_path: Path, few: Geography, few_places: Source
) -> None:
    install_streams(folder=tmp_path, tell=quietly, source=few_places)
    there = {place.country for place in few.places[:12]}
    fewer = Geography(few.places[:12], [c for c in few.countries if c.code in there])
    told: list[str] = []
    install_streams(folder=tmp_path, tell=told.append, source=Source.holding(fewer))
    assert told == ["Other streams are installed than this version ships. They are built anew."]


def test_older_streams_of_the_same_places_are_replaced(
    tmp_path: Path, few: Geography, few_places: Source
) -> None:
    install_streams(folder=tmp_path, tell=quietly, source=few_places)
    shipped = shipped_catalog(
        regions=[str(v) for v in few.regions], countries=[str(v) for v in few.country_codes]
    )
    trips = shipped.stream("trips")
    assert trips is not None
    older = dict(shipped._streams, trips=msgspec.structs.replace(trips, ttl_days=7))
    catalog = Catalog(older, shipped._domains)
    catalog.write(tmp_path)
    receipt = json.loads((tmp_path / "installed.json").read_text())
    (tmp_path / "installed.json").write_text(json.dumps({**receipt, "catalog": catalog.sha256}))
    told: list[str] = []
    made = install_streams(folder=tmp_path, tell=told.append, source=few_places)
    assert "this version ships" in told[0]
    assert made.catalog.sha256 == shipped.sha256


def test_places_of_another_format_are_built_again(tmp_path: Path, few_places: Source) -> None:
    install_streams(folder=tmp_path, tell=quietly, source=few_places)
    receipt = json.loads((tmp_path / "installed.json").read_text())
    (tmp_path / "installed.json").write_text(json.dumps({**receipt, "places_format": 0}))
    told: list[str] = []
    assert install_streams(folder=tmp_path, tell=told.append, source=few_places).built
    assert "places.sqlite is of another version of Mayfly" in told[0]


def test_several_processes_install_at_once(tmp_path: Path, few: Geography) -> None:
    installers = [_installer(tmp_path / "streams", few) for _ in range(4)]
    answers = [process.communicate(timeout=120)[0].strip() for process in installers]
    assert sorted(answers) == [b"built", b"checked", b"checked", b"checked"]
    assert not list(tmp_path.rglob("*.new"))


@pytest.mark.parametrize(
    "moment",
    [
        *("install.lock", "places.sqlite.*.new", "places.sqlite"),
        *("domains/*", "domains/*.npy", "catalog.json"),
    ],
)
def test_it_can_be_killed_at_any_moment(
    tmp_path: Path, few: Geography, moment: str, size: str
) -> None:
    for attempt in range(5 if size == "full" else 1):
        folder = tmp_path / str(attempt)
        process = _installer(folder, few)
        while not list(folder.glob(moment)) and process.poll() is None:
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        _assert_nothing_is_half_written(folder)
        install_streams(folder=folder, tell=quietly, source=Source.holding(few))
        assert not install_streams(folder=folder, tell=quietly, source=Source.holding(few)).built
        assert not list(folder.rglob("*.new"))


def test_a_folder_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, few_places: Source
) -> None:
    (tmp_path / "streams").write_text("a file where the folder should be")
    with pytest.raises(Problem, match=r"cannot be installed in .* MAYFLY_DATA"):
        install_streams(folder=tmp_path / "streams", tell=quietly, source=few_places)


def test_the_command_says_what_it_did(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("install_streams")
    told = capsys.readouterr().out
    assert told == "The streams assistant, trips were installed already and are whole.\n"
    call_command("install_streams", verbosity=0)
    assert capsys.readouterr().out == ""


def _installer(folder: Path, geography: Geography) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", _INSTALL_FEW, str(folder)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    document = {"places": geography.places, "countries": geography.countries}
    process.stdin.write(msgspec.json.encode(document))
    process.stdin.close()
    process.stdin = None  # `communicate` would flush it
    return process


def _assert_nothing_is_half_written(folder: Path) -> None:
    if (folder / "catalog.json").exists():
        assert len(list(Catalog.open(folder))) == 2
    if (folder / "places.sqlite").exists():
        with closing(sqlite3.connect(folder / "places.sqlite")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert database.execute("SELECT COUNT(*) FROM places").fetchone() == (200,)


def _snapshot(folder: Path) -> dict[str, bytes]:
    files = [p for p in folder.rglob("*") if p.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def _domain_file(folder: Path) -> Path:
    return max((folder / "domains").iterdir(), key=lambda path: path.stat().st_size)
