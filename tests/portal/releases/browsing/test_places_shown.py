"""Places with numbers, on the page of a release and on the front page."""

import re
from datetime import timedelta

import duckdb
import pyarrow as pa
import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from aggregation.errors import Problem
from portal.accounts.models import Person
from portal.releases import reading
from portal.releases.browsing import places_shown as module
from portal.releases.browsing.history import latest
from portal.releases.browsing.newest import newest
from portal.releases.browsing.places_shown import places_shown
from portal.releases.showing import Shown
from tests.portal.releases.browsing.conftest import LYON, MARSEILLE, PARIS, rewrite
from tests.portal.releases.browsing.test_browsing_pages import AT, TASK, main, words


def test_places_with_a_number_are_listed_by_name(tables):
    found = places_shown(tables)
    names = [name for _, name in found.listed]
    assert names == ["Berlin, DE", "Lyon, FR", "Munich, DE", "Paris, FR"]
    assert (found.count, found.others, found.noun) == (4, 0, "places")


def test_those_that_nobody_is_in_are_not_among_them(tables):
    """Though emissions on foot are 0 for certain there, too."""
    assert str(MARSEILLE) not in dict(places_shown(tables).listed)


def test_of_many_those_with_most_numbers_are_listed(tables, monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    found = places_shown(tables)
    assert (len(found.listed), found.count, found.others) == (3, 4, 1)


def test_a_release_leads_to_its_places(client, released):
    page = main(client.get(AT))
    assert "4 places have a number in this release" in page
    (link,) = re.findall(rf'href="(/places/{PARIS}\?[^"]+)"', page)
    assert client.get(link.replace("&amp;", "&")).status_code == 200
    part = client.get(AT, headers={"HX-Request": "true"}).content.decode()
    assert "have a number in this release" not in part


def test_guests_are_told_what_there_is_on_the_front_page(released, settings):
    page = Client().get("/")
    assert "trips and distance in 4 places, 18 Nov 2026" in words(page)
    assert f'href="{AT}"' in page.content.decode()
    assert f'href="/places/{LYON}"' in page.content.decode()
    settings.PUBLIC_RELEASES = False
    assert "4 places" not in words(Client().get("/"))


def test_so_are_people_with_a_role(client, released):
    said = words(client.get("/"))
    assert "The newest is trips-by-region: trips and distance in 4 places, 18 Nov 2026." in said


def test_without_a_release_there_is_nothing_to_tell(client):
    assert newest(Person.objects.get(username="carla")) is None
    assert Client().get("/").status_code == 200


def test_a_file_that_is_not_as_it_was_signed_for_takes_no_page_with_it(released, monkeypatch):
    def refused(*_: object) -> None:
        raise Problem("cells.parquet differs from what was signed, so it is not shown.")

    monkeypatch.setattr(Shown, "layout", refused)
    assert newest(AnonymousUser()) is None
    assert Client().get("/").status_code == 200


@pytest.mark.parametrize("error", [OSError, duckdb.IOException, pa.ArrowInvalid])
def test_nor_does_one_that_cannot_be_read(released, client, monkeypatch, error):
    def unreadable(*_: object) -> None:
        raise error("no such bytes")

    monkeypatch.setattr(Shown, "layout", unreadable)
    assert newest(AnonymousUser()) is None
    for one in (Client(), client):
        assert one.get("/").status_code == 200
        assert "Countries with numbers" not in words(one.get("/places"))


def test_the_newest_is_the_one_that_was_released_last(released):
    """Whenever its window began, as that of a month does before those of its weeks."""
    first, second = released
    assert newest(AnonymousUser()).release == second
    rewrite(first, released_at=second.released_at + timedelta(days=1))
    assert newest(AnonymousUser()).release == first
    assert latest(AnonymousUser(), TASK) == second


def test_a_second_look_at_the_front_page_reads_no_file(released, monkeypatch):
    assert "4 places" in words(Client().get("/"))
    monkeypatch.setattr(reading.pq, "read_metadata", lambda _: pytest.fail("read again"))
    assert "4 places" in words(Client().get("/"))


def test_a_damaged_table_takes_neither_the_chart_nor_the_sums_with_it(client, tables):
    """What is drawn is of another table."""
    file = tables.shown.file("cells")
    file.path.write_bytes(b"damaged")
    said = words(client.get(f"{AT}?metric=distance_km&by=activity"))
    assert "cells.parquet differs from what was signed" in said
    assert "Distance by activity" in said
    assert "comes first with" in said
    assert "All together" in said
    assert "have a number in this release" not in said
