import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from aggregation.errors import Problem
from aggregation.protocol.streams import EVENT_TIME, STAMPED, Catalog, Column, Stream


def test_a_catalog_written_and_opened_is_the_same(tmp_path: Path, catalog: Catalog) -> None:
    catalog.write(tmp_path)
    opened = Catalog.open(tmp_path)
    assert list(opened) == list(catalog)
    assert opened.sha256 == catalog.sha256
    for stream in catalog:
        for column in stream.columns:
            if column.domain:
                assert list(opened.domain(column.domain)) == list(catalog.domain(column.domain))


def test_the_hash_is_that_of_the_file(tmp_path: Path, catalog: Catalog) -> None:
    catalog.write(tmp_path)
    raw = (tmp_path / "catalog.json").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == catalog.sha256


def test_writing_leaves_nothing_beside(tmp_path: Path, catalog: Catalog) -> None:
    catalog.write(tmp_path)
    catalog.write(tmp_path)
    assert not list(tmp_path.rglob("*.new"))


def test_it_finds_streams_and_columns_by_name(catalog: Catalog) -> None:
    trips = catalog.stream("trips")
    assert trips is not None
    assert "trips" in catalog
    assert "Trips" not in catalog
    assert catalog.stream("nothing") is None
    assert trips.column("region") is not None
    assert trips.column("nothing") is None


def test_a_missing_catalog_says_how_to_install_one(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="install_streams"):
        Catalog.open(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"trips": {"name": "trips"}}', "\0\0"])
def test_a_damaged_catalog_says_so(tmp_path: Path, catalog: Catalog, text: str) -> None:
    catalog.write(tmp_path)
    (tmp_path / "catalog.json").write_text(text)
    with pytest.raises(Problem, match="damaged"):
        Catalog.open(tmp_path)


def test_a_missing_domain_file_says_so(tmp_path: Path, catalog: Catalog) -> None:
    catalog.write(tmp_path)
    next((tmp_path / "domains").iterdir()).unlink()
    with pytest.raises(Problem, match="does not hold what its name says"):
        Catalog.open(tmp_path)


def test_a_streams_hash_changes_with_any_part_of_it() -> None:
    column = Column(name="steps", type="integer", description="Steps.", minimum=0)
    stream = Stream(
        name="walks", title="Walks", description="Walks.", ttl_days=3, columns=(column,)
    )
    changed = [
        msgspec.structs.replace(stream, ttl_days=4),
        msgspec.structs.replace(stream, description="Other."),
        msgspec.structs.replace(stream, columns=(msgspec.structs.replace(column, nullable=True),)),
        msgspec.structs.replace(stream, columns=()),
    ]
    assert len({s.sha256 for s in [stream, *changed]}) == 5


def test_a_streams_hash_is_easy_to_redo_anywhere(catalog: Catalog) -> None:
    stream = catalog.stream("assistant")
    assert stream is not None
    document = json.loads(msgspec.json.encode(stream))
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == stream.sha256


def test_no_query_reads_event_time_and_devices_stamp_three_columns() -> None:
    assert not EVENT_TIME.queryable
    assert [c.name for c in STAMPED] == ["privacy_time_unit", "hour_of_day", "day_of_week"]
    assert all(c.stamped and c.queryable for c in STAMPED)
