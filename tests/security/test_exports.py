"""Files that people take home: no formulas in them, and none that they did not ask for."""

import csv
import io

import duckdb
import pytest

from portal.audit.models import Entry
from portal.lab.models import Study
from portal.lab.showing.cells import as_csv
from portal.releases.querying import opened_for
from portal.spreadsheets import harmless
from tests.portal.accounts.conftest import PASSWORD
from tests.security.world import PUBLIC, World

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_spreadsheet_does_not_run_a_cell(formula):
    assert harmless(formula) == f"'{formula}"


@pytest.mark.parametrize("value", ["Paris", "2026-11-09", "", -1, -0.5, None])
def test_what_is_harmless_stays_as_it_is(value):
    assert harmless(value) == value


def test_a_loaded_study_brings_no_formulas():
    """Its names are whatever its file said."""
    study = Study(kind="calibration", result={"mechanism": {"scales": {"=cmd()": {"@n": -2.5}}}})
    (_, row) = csv.reader(io.StringIO(as_csv(study)))
    assert row == ["mechanism", "scales.=cmd()", "'@n", "-2.5"]


@pytest.mark.django_db
def test_the_audit_log_brings_no_formulas(person, signed_in):
    operator = signed_in("operator")
    wanted = {"name": "=1+1", "scopes": "read", "lifetime_days": "30", "password": PASSWORD}
    assert operator.post("/account/tokens", wanted).context["created"]
    assert Entry.objects.filter(object_label__startswith="=").exists() is False
    whole = b"".join(operator.get("/audit/export.csv")).decode()
    for row in csv.reader(io.StringIO(whole)):
        assert not any(cell.startswith(tuple(FORMULAS)) for cell in row)


NAMES = [
    "..%2fkeys%2fsecret-key", "..%2f..%2fmayfly.sqlite3", "%2fetc%2fpasswd", "cells.parquet%00.csv",
    "manifest.json%2f..%2fcells.csv", "..", "cells", ".csv", "cells.exe", "read_csv('x').csv",
    "cells'.csv", 'cells".csv', "cells;drop.csv",
]  # fmt: skip


def test_no_other_file_comes_by_an_odd_name_or_query(world: World):
    client = world.clients["operator"]
    at = f"/releases/{PUBLIC}/2026-11-18/files"
    for prefix in ("", "/api/v1"):
        for name in NAMES:
            assert client.get(f"{prefix}{at}/{name}").status_code == 404, name
    for query in ("region=1%27)%20OR%201=1--", "sort=1;DROP", "sort=region%22%20--", "x%22=1"):
        answer = client.get(f"{at}/cells.csv?{query}")
        assert answer.status_code == 400
    good = client.get(f"{at}/cells.csv?activity=bus&sort=-region")
    saved = f"{PUBLIC}_2026-11-18_cells_some.csv"
    assert good["Content-Disposition"] == f'attachment; filename="{saved}"'
    good.close()


def test_the_reader_of_tables_reaches_no_other_file(world: World, settings):
    """Should a statement ever be built of a stranger's words: DuckDB itself says no."""
    folder = settings.DATA / "releases" / PUBLIC / "2026-11-18"
    secret = settings.KEYS_DIR / "a-secret"
    secret.write_text("a\n1\n")
    for statement in (
        f"SELECT * FROM read_csv('{secret}')",
        f"SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_text('/etc/passwd')",
        f"COPY (SELECT 1) TO '{settings.KEYS_DIR / 'out'}'",
        f"ATTACH '{settings.KEYS_DIR / 'x.db'}'",
        "INSTALL httpfs",
        "SELECT * FROM read_csv('http://127.0.0.1:1/x')",
        "SET enable_external_access = true",
        "SELECT getenv('HOME')",
    ):
        with opened_for(folder / "cells.parquet") as database, pytest.raises(duckdb.Error):
            database.execute(statement)
    with opened_for(folder / "cells.parquet") as database:
        rows = database.execute("SELECT * FROM read_parquet(?)", [str(folder / "cells.parquet")])
        assert rows.fetchall()
    assert not (settings.KEYS_DIR / "out").exists()
