"""Releases as pages, files and API: for those who may see them, with the same bytes every time."""

import asyncio
import io
import json
import re
from datetime import datetime

import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from aggregation.release.noise import add_noise
from portal.accounts.tokens import create_token
from portal.releases import rendering, running
from portal.releases.models import Release
from portal.releases.signing import read_card
from tests.portal.collection.collecting import SPEC, someone
from tests.portal.releases.test_releasing import DUE, FIRST

ADDRESS = f"/releases/trips-by-region/{FIRST}"
FILES = ["cells.parquet", "cells.csv", "cells.json", "total.parquet", "manifest.json",
         "manifest.sig", "card.json"]  # fmt: skip


@pytest.fixture
def consumer(collecting):
    return someone("carla", "consumer")


@pytest.fixture
def client(consumer):
    client = Client()
    client.force_login(consumer)
    return client


@pytest.fixture
def released(collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    return Release.objects.get()


@pytest.fixture
def public(collecting, monkeypatch):
    """The same, of a task whose spec says that everyone may see it."""
    from tests.portal.collection import collecting as module

    text = SPEC + "publish: {{audience: public}}\n"
    monkeypatch.setattr(module, "SPEC", text)
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("for-everyone")
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    return Release.objects.get(audience="public")


def body(response) -> bytes:
    if not response.streaming:
        return response.content

    async def parts() -> bytes:
        return b"".join([part async for part in response.streaming_content])

    return asyncio.run(parts())


def main(response) -> str:
    return re.search(r"<main.*</main>", response.content.decode(), re.S).group()


def test_it_works(client, released):
    page = client.get(ADDRESS)
    assert page.status_code == 200
    words = main(page)
    assert "What is guaranteed" in words
    assert "ε = 0.1" in words
    assert "the number for n is not shown. Its noise alone would be more than" in words
    words = main(client.get(f"{ADDRESS}/table"))
    assert "None of these 12 rows is shown" in words
    assert "<tr" not in words
    assert ADDRESS in main(client.get("/releases"))


def test_a_release_has_one_time_and_says_that_it_is_utc(client, released):
    assert released.released_at == datetime.fromisoformat(read_card(released.card).released_at)
    told = f"{released.released_at:%Y-%m-%d %H:%M} UTC"
    for path in (ADDRESS, f"{ADDRESS}/card", f"{ADDRESS}/table", "/releases"):
        assert told in main(client.get(path)), path


def test_it_says_what_intervals_are_made_of(client, released, collecting, monkeypatch):
    """A task without a fit has noise alone; one with it has both terms, apart."""
    assert "What clipping took away is not in them" in main(client.get(ADDRESS))
    from tests.portal.collection import collecting as module

    fit = """  clip_uncertainty: {{count: n, metrics: {{n: {{random: 1.5, systematic: 0.25}}}},
    source: A survey of this test}}
"""
    monkeypatch.setattr(module, "SPEC", SPEC + "  suppression: {{max_relative_noise: 1}}\n" + fit)
    monkeypatch.setattr("portal.releases.services.add_noise", _full)
    collecting.clock.set(collecting.revision.approved_at)
    collecting.activate("with-a-fit")
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    at = (
        f"/releases/with-a-fit/{Release.objects.get(window__task__name='with-a-fit').window.window}"
    )
    assert "The intervals hold two terms" in main(client.get(at))
    words = main(client.get(f"{at}/table"))
    assert words.count("<tr") == 13
    assert "12 of 12 rows are shown." in words
    assert main(client.get(f"{at}/table?parts=1")).count("clipping ±") == 12
    assert "A survey of this test." in main(client.get(f"{at}/card"))
    table = pq.read_table(io.BytesIO(body(client.get(f"{at}/files/cells.parquet")))).to_pydict()
    for value, both, noise, clip in zip(
        *(table[f"n{part}"] for part in ("", "_half_width", "_noise", "_clip_uncertainty")),
        strict=True,
    ):
        assert clip == pytest.approx(value * (1.5**2 / value + 0.25**2) ** 0.5)
        assert both == pytest.approx((noise**2 + clip**2) ** 0.5)


def _full(report, recipe):
    """As many trips as it takes to be shown; the noise is the real one."""
    report.sums[:] = 10**12
    return add_noise(report, recipe)


def test_every_read_is_the_same(client, released):
    for path in (ADDRESS, f"{ADDRESS}/card", f"{ADDRESS}/check", "/releases"):
        assert main(client.get(path)) == main(client.get(path)), path
    for name in FILES:
        first, second = (client.get(f"{ADDRESS}/files/{name}") for _ in range(2))
        assert first.status_code == 200, name
        assert body(first) == body(second), name
    assert client.get(f"/api/v1{ADDRESS}").content == client.get(f"/api/v1{ADDRESS}").content


def test_exports_say_what_the_parquet_file_says(client, released):
    table = pq.read_table(io.BytesIO(body(client.get(f"{ADDRESS}/files/cells.parquet"))))
    rows = json.loads(body(client.get(f"{ADDRESS}/files/cells.json")))
    assert rows == table.to_pylist()
    lines = body(client.get(f"{ADDRESS}/files/cells.csv")).decode().splitlines()
    assert lines[0].split(",") == table.schema.names
    assert len(lines) == 13


def test_pages_ask_the_database_little(client, released):
    for path, most in ((ADDRESS, 8), ("/releases", 9), (f"{ADDRESS}/card", 8)):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(path)
        assert len(asked) <= most, (path, [q["sql"][:90] for q in asked])


def test_the_list_without_releases_says_what_to_expect(client):
    assert "Nothing is released yet" in main(client.get("/releases"))
    assert "Nothing public is released yet" in main(Client().get("/releases"))


def test_numbers_are_not_read_for_the_list(client, released):
    with CaptureQueriesContext(connection) as asked:
        client.get("/releases")
    assert not [q for q in asked if '"releases_release"."noised",' in q["sql"]]


def test_guests_see_what_is_public_and_nothing_else(public, settings):
    guest, at = Client(), f"/releases/for-everyone/{public.window.window}"
    for path in (at, f"{at}/card", f"{at}/check", f"{at}/files/cells.csv", f"/api/v1{at}"):
        assert guest.get(path).status_code == 200, path
    words = main(guest.get("/releases"))
    assert "for-everyone" in words
    assert "trips-by-region" not in words
    for path in (ADDRESS, f"{ADDRESS}/files/cells.csv", "/releases/nothing/2026-01-01"):
        found = guest.get(path)
        assert found.status_code == 302, path
        assert found["Location"].startswith("/login")
    assert guest.get(f"/api/v1{ADDRESS}").status_code == 404
    names = [row["task"] for row in guest.get("/api/v1/releases").json()["results"]]
    assert set(names) == {"for-everyone"}
    settings.PUBLIC_RELEASES = False
    for path in ("/releases", at, f"{at}/files/cells.csv"):
        assert guest.get(path).status_code == 302, path
    assert guest.get(f"/api/v1{at}").status_code in (401, 403)
    assert guest.get("/api/v1/releases").status_code in (401, 403)


def test_somebody_without_a_role_sees_what_is_public(public):
    client = Client()
    client.force_login(someone("nobody"))
    assert client.get(ADDRESS).status_code == 404
    assert client.get(f"/releases/for-everyone/{public.window.window}").status_code == 200


def test_a_token_reads_with_its_scope(consumer, released, collecting):
    def answer(*scopes: str) -> int:
        made = create_token(
            owner=consumer, name=scopes[0], scopes=scopes, lifetime_days=30, clock=collecting.clock
        )
        headers = {"Authorization": f"Bearer {made.secret}"}
        return Client().get(f"/api/v1{ADDRESS}", headers=headers).status_code

    assert answer("read") == 200
    assert answer("author") == 403


def test_files_that_do_not_exist(client, released):
    for name in ("cells.xlsx", "nothing.csv", "..%2Fcells.parquet", "cells"):
        assert client.get(f"{ADDRESS}/files/{name}").status_code == 404, name


def test_before_its_files_are_made_the_page_says_so(client, collecting):
    collecting.go_to(DUE)
    running.release_due_windows(clock=collecting.clock)
    words = main(client.get(ADDRESS))
    assert "being made" in words
    assert "What is guaranteed" in words
    answer = client.get(f"{ADDRESS}/files/cells.csv")
    assert answer.status_code == 503
    assert answer["Retry-After"]
    assert client.get(f"/api/v1{ADDRESS}").json()["manifest"] is None


def test_a_damaged_file_is_not_served(client, released):
    path = rendering.folder_of(released) / "cells.parquet"
    right = path.read_bytes()
    path.write_bytes(right[:-4] + b"!!!!")
    assert client.get(f"{ADDRESS}/files/cells.parquet").status_code == 503
    assert "differs from what was signed" in main(client.get(ADDRESS))
    running.restore_files()
    assert body(client.get(f"{ADDRESS}/files/cells.parquet")) == right


def test_any_query_gives_a_page(client, released):
    queries = ["table=total", "table=x", "sort=n&order=up", "sort=n;drop", "page=99", "parts=2",
               "order=sideways", "sort=%22"]  # fmt: skip
    for query in queries:
        assert client.get(f"{ADDRESS}?{query}").status_code == 200, query


def test_the_check_finds_what_is_wrong(client, released):
    assert "All 7 checks hold" in main(client.get(f"{ADDRESS}/check"))
    (rendering.folder_of(released) / "total.parquet").unlink()
    assert "1 of 7 checks failed" in main(client.get(f"{ADDRESS}/check"))


def test_the_home_page_and_the_navigation_lead_there(client, released):
    words = client.get("/").content.decode()
    assert 'href="/releases"' in words
    assert "The newest is trips-by-region" in words
