"""Exports: the rows that were asked for, with names beside ids, and the same bytes every time."""

import csv
import hashlib
import io
import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from portal.releases import exports, parquet
from portal.releases.files import TableFile
from portal.releases.filtering import Filter
from portal.releases.opening import OpenTable
from portal.releases.parquet import as_parquet
from portal.releases.reading import layout_of
from portal.releases.rendering import folder_of
from portal.releases.rows import Rows
from tests.portal.releases.browsing.conftest import BERLIN, MARSEILLE, PARIS
from tests.portal.releases.data.conftest import AT

FILES = f"{AT}/files"
_, _, TASK, WINDOW = AT.split("/")


@pytest.fixture
def get(client, released, body):
    def read(name: str, query: str = "") -> bytes:
        answer = client.get(f"{FILES}/{name}?{query}")
        found = body(answer)
        assert answer.status_code == 200, found
        return found

    return read


@pytest.fixture
def rows(get):
    def read(name: str, query: str = "") -> list[dict]:
        return list(csv.DictReader(io.StringIO(get(f"{name}.csv", query).decode())))

    return read


def test_it_works(rows, get):
    found = rows("cells", f"region={PARIS}&activity=cycling")
    assert len(found) == 1
    (row,) = found
    assert (row["region"], row["region_name"], row["country"]) == (str(PARIS), "Paris", "FR")
    assert int(row["population"]) > 2_000_000
    assert row["activity"] == "cycling"
    assert float(row["distance_km"]) > 0 < float(row["distance_km_half_width"])
    assert json.loads(get("cells.json", f"region={PARIS}&activity=cycling")) == [
        {**row, **{k: _value(v) for k, v in row.items() if k not in ("region", "country")}}
    ]


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text or None


def test_the_whole_says_what_the_file_says(get, rows):
    """All columns of the file are there with their values; ours stand beside."""
    table = pq.read_table(io.BytesIO(get("cells.parquet")))
    ours = {"region_name", "country", "population"}
    found = json.loads(get("cells.json"))
    assert [{k: v for k, v in row.items() if k not in ours} for row in found] == table.to_pylist()
    assert list(found[0]) == list(rows("cells")[0])
    assert set(found[0]) == {*table.schema.names, *ours}


def test_whole_parquet_is_the_signed_file(get, released, client):
    name = "cells.parquet"
    whole = get(name)
    assert whole == (folder_of(released[1]) / name).read_bytes()
    assert get(name, "page=2&shown=0") == whole
    hashes = json.loads(get("manifest.json"))["files"]
    assert hashlib.sha256(whole).hexdigest() == hashes[name]


def test_parquet_of_some_rows_has_the_same_columns(get):
    whole = pq.read_table(io.BytesIO(get("cells.parquet")))
    some = pq.read_table(io.BytesIO(get("cells.parquet", "activity=cycling&sort=-distance_km")))
    assert some.schema.equals(whole.schema)
    wanted = [row for row in whole.to_pylist() if row["activity"] == "cycling"]
    by_size = sorted(wanted, key=lambda row: -(row["distance_km"] or 0))
    assert some.to_pylist() == by_size
    assert some.schema.metadata[b"mayfly_rows"] == b"activity=cycling&sort=-distance_km"
    assert b"trips-by-region" in some.schema.metadata[b"mayfly"]
    none = pq.read_table(io.BytesIO(get("cells.parquet", f"region={MARSEILLE}&shown=1")))
    assert none.num_rows == 0
    assert none.schema.equals(whole.schema)


def test_every_format_has_the_same_rows(get, rows):
    for query in ("country=FR", "shown=1", "sort=-num_trips_relative", "activity=bus&country=DE"):
        wanted = [(row["region"], row["activity"]) for row in rows("cells", query)]
        assert wanted
        as_json = json.loads(get("cells.json", query))
        assert [(row["region"], row["activity"]) for row in as_json] == wanted
        points = json.loads(get("cells.geojson", query))["features"]
        assert [(p["properties"]["region"], p["properties"]["activity"]) for p in points] == wanted
        table = pq.read_table(io.BytesIO(get("cells.parquet", query))).to_pydict()
        assert list(zip(table["region"], table["activity"], strict=True)) == wanted
    assert {row["country"] for row in rows("by-region", "country=FR")} == {"FR"}
    assert [row["region_name"] for row in rows("by-region", "sort=distance_km&country=FR")] == [
        "Paris",
        "Lyon",
        "Marseille",
    ]


def test_places_are_sorted_by_their_names(rows):
    names = ["Berlin", "Lyon", "Marseille", "Munich", "Paris"]
    assert [row["region_name"] for row in rows("by-region", "sort=region")] == names
    assert [row["region_name"] for row in rows("by-region", "sort=-region&shown=1")] == [
        name for name in names[::-1] if name != "Marseille"
    ]
    assert [row["region_name"] for row in rows("cells", "sort=region")] == [
        name for name in names for _ in range(9)
    ]


def test_geojson_has_points_and_tells_why_a_place_is_not_shown(get, client):
    found = json.loads(get("by-region.geojson"))
    assert found["type"] == "FeatureCollection"
    by_name = {one["properties"]["region_name"]: one for one in found["features"]}
    east, north = by_name["Berlin"]["geometry"]["coordinates"]
    assert (round(east), round(north)) == (13, 53)
    shown = by_name["Lyon"]["properties"]
    assert shown["num_trips"] > 10 * shown["num_trips_half_width"] > 0
    hidden = by_name["Marseille"]["properties"]
    assert hidden["suppressed"].startswith("The noise is more than")
    assert hidden["num_trips"] is hidden["distance_km_half_width"] is None
    assert hidden["region_name"] == "Marseille"
    for name in ("total.geojson", "by-activity.geojson", "by-country.geojson"):
        assert client.get(f"{FILES}/{name}").status_code == 404


def test_countries_have_names(rows):
    found = {row["country"]: row["country_name"] for row in rows("by-country")}
    assert found == {"DE": "Germany", "FR": "France"}
    assert rows("total")[0]["suppressed"] == ""
    assert "co2e_kg_factors" in rows("emissions-by-region")[0]


def test_wrong_questions_get_a_sentence(client, released):
    for query, sentence in {
        "activity=cyclng": "Did you mean cycling?",
        "region=1": f"No row of cells has the region '1'. There are {BERLIN}, ",
        "country=XX": "No row of cells has the country 'XX'.",
        "sort=speed": "cannot be sorted by 'speed'",
        "colour=red": "takes no parameter 'colour'",
        "shown=%00": "shown is 1 or 0",
    }.items():
        answer = client.get(f"{FILES}/cells.csv?{query}")
        assert answer.status_code == 400, query
        text = answer.content.decode()
        assert sentence in text, text


def test_a_saved_file_says_what_it_is_of(client, released):
    """The signed one is called as in the manifest; nothing else is called like it."""
    for name, saved in {
        "cells.parquet": "cells.parquet",
        "cells.parquet?activity=bus": f"{TASK}_{WINDOW}_cells_some.parquet",
        "cells.csv": f"{TASK}_{WINDOW}_cells.csv",
        "cells.json?activity=bus": f"{TASK}_{WINDOW}_cells_some.json",
    }.items():
        answer = client.get(f"{FILES}/{name}")
        assert answer["Content-Disposition"] == f'attachment; filename="{saved}"'


def test_what_somebody_has_is_not_sent_again(client, released):
    first = client.get(f"{FILES}/cells.csv?activity=bus")
    tag = first["ETag"]
    again = client.get(f"{FILES}/cells.csv?activity=bus&page=1", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert not again.content
    for other in ("cells.csv", "cells.csv?activity=train", "cells.json?activity=bus"):
        answer = client.get(f"{FILES}/{other}", headers={"If-None-Match": tag})
        assert answer.status_code == 200, other
        assert answer["ETag"] != tag
    assert "private" in first["Cache-Control"]
    stranger = Client()
    assert stranger.get(f"{FILES}/cells.csv").status_code == 200


def test_the_dictionary_names_every_column(get, rows):
    found = json.loads(get("dictionary.json"))
    assert (found["task"], found["window"]) == ("trips-by-region", "2026-11-18")
    assert "The intervals" in found["intervals"]
    tables = {table["name"]: table for table in found["tables"]}
    assert {"cells", "by-region", "by-country", "total", "emissions-cells"} <= set(tables)
    for name, table in tables.items():
        columns = [column["name"] for column in table["columns"]]
        assert columns == list(rows(name)[0]), name
        assert all(column["meaning"].endswith((".", "%")) for column in table["columns"]), name
    by_name = {column["name"]: column for column in tables["cells"]["columns"]}
    assert by_name["distance_km"]["unit"] == by_name["distance_km_half_width"]["unit"] == "km"
    assert by_name["distance_km_clip_correction"]["unit"] == ""
    assert by_name["population"]["is_beside"]
    assert not by_name["region"]["is_beside"]
    assert tables["cells"]["rows"] == 45


def test_the_dictionary_is_a_page(client, released):
    words = client.get(f"{AT}/dictionary").content.decode()
    assert words.count("<code>distance_km_half_width</code>") == 1
    assert "by-region" in words
    assert "@misc{mayfly-trips-by-region-2026-11-18," in words
    assert Client().get(f"{AT}/dictionary").status_code == 200
    table = client.get(f"{AT}/table?table=by-region&activity=").content.decode()
    assert "by-region.geojson" in table
    assert "by-activity.geojson" not in client.get(f"{AT}/table?table=by-activity").content.decode()
    (folder_of(released[1]) / "total.parquet").write_bytes(b"!")
    assert "differs from what was signed" in client.get(f"{AT}/dictionary").content.decode()


def test_a_release_can_be_cited(get, released):
    text = get("citation.txt").decode()
    assert text.startswith("Mayfly (2026). trips-by-region, day 2026-11-18 [Data set]. ")
    assert "0.5-differentially private per device and day" in text
    assert text.rstrip().endswith(f"{released[1].noised_sha256}.")
    assert AT in text
    bibtex = get("citation.bib").decode()
    assert bibtex.startswith("@misc{mayfly-trips-by-region-2026-11-18,\n")
    assert bibtex.count("{") == bibtex.count("}")
    assert "title = {{trips-by-region, day 2026-11-18}}" in bibtex


@pytest.mark.parametrize("make", [exports.as_csv, exports.as_json, as_parquet])
def test_long_exports_take_no_more_memory(tmp_path, settings, monkeypatch, make):
    """What one makes of ten times as many rows is never there at once."""
    settings.DATA = tmp_path
    monkeypatch.setattr(exports, "BATCH", 500)
    monkeypatch.setattr(parquet, "_GROUP", 500)
    counts = (3_000, 3_000, 30_000)  # the first takes what all of them share
    _, short, long = (taken(big(tmp_path, count), make) for count in counts)
    assert long < 2 * short


def test_a_half_width_without_end_is_null_in_json(tmp_path, settings):
    settings.DATA = tmp_path
    table = big(tmp_path, 3, width=float("inf"))
    assert [row["km_half_width"] for row in Rows(table, Filter())[:]] == [None] * 3
    made = json.loads(b"".join(exports.as_json(table, Filter())))
    assert [row["km_half_width"] for row in made] == [None] * 3
    assert all(row["km"] is not None for row in made)
    assert b",inf," in b"".join(exports.as_csv(table, Filter()))


def taken(table: OpenTable, make: exports.Make) -> int:
    """Bytes that Python has for an export, when they are most."""
    tracemalloc.start()
    for _ in make(table, Filter(shown_only=True)):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def big(folder, count: int, *, width: float | None = None) -> OpenTable:
    numbers = np.random.default_rng(7).random(count)
    fields = {
        "region": pa.array(np.arange(count).astype(str)),
        "privacy_time_unit": pa.array(["2026-11-09"] * count),
    }
    for part in ("", "_half_width", "_noise", "_clip_correction", "_clip_uncertainty"):
        fields[f"km{part}"] = numbers
    if width is not None:
        fields["km_half_width"] = np.full(count, width)
    fields["suppressed"] = pa.nulls(count, pa.string())
    path = folder / "cells.parquet"
    pq.write_table(pa.table(fields), path, row_group_size=1 << 17)
    layout = layout_of(TableFile("cells", path, str(path)), ("km",))
    return OpenTable(None, _Config(), layout)  # type: ignore[arg-type] # not asked about


class _Config:
    keys = ()
