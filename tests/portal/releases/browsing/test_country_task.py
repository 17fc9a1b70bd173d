"""A task by country whose sums over all activities drown, while driving in France is shown."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from aggregation.release.noise import add_noise
from portal.releases import running, services
from portal.releases.browsing.emitting import Emissions
from portal.releases.browsing.mapping import MapView
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.showing import Shown
from tests.conftest import draw_from
from tests.portal.collection import collecting as module
from tests.portal.releases.browsing.conftest import FIRST, SPEC
from tests.portal.releases.browsing.test_browsing_pages import TASK, main, words

AT = f"/releases/{TASK}/{FIRST}"
# Of Germany's nine activities and then those of France.
DRIVING_IN_FRANCE = 9 + 4
# A thousand in steps of a twentieth of 2^20: shown against the noise of two cells, not of nine.
ENOUGH = 1000 * 2**20 // 20


@pytest.fixture
def streams(streams: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPEC", SPEC.replace("region", "country"))


@pytest.fixture
def tables(collecting: Any, monkeypatch: pytest.MonkeyPatch) -> Tables:
    def filled(report: Any, recipe: Any) -> Any:
        report.sums[DRIVING_IN_FRANCE] += ENOUGH
        return add_noise(report, recipe)

    monkeypatch.setattr(services, "add_noise", filled)
    return released(collecting, monkeypatch)


@pytest.fixture
def quiet(collecting: Any, monkeypatch: pytest.MonkeyPatch) -> Tables:
    """Where nobody took part."""
    return released(collecting, monkeypatch)


def released(collecting: Any, monkeypatch: pytest.MonkeyPatch) -> Tables:
    draw_from("driving in France", monkeypatch)
    collecting.go_to("2026-11-20T00:00:00")
    running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    return Tables(Shown(Release.objects.get()))


def test_it_is_as_described(tables: Tables) -> None:
    assert tables.count(["country"], "num_trips") == 0
    assert tables.count(["activity"], "num_trips") == 1
    assert tables.count(["country", "activity"], "num_trips") == 1


def test_a_map_that_would_be_empty_opens_with_what_is_shown(client: Client, tables: Tables) -> None:
    assert MapView.first(tables).where == {"activity": "driving"}
    page = client.get(f"{AT}/map")
    assert page.context["map"].is_shown
    assert "Here noise drowns every number" not in words(page)
    assert '<option value="driving" selected>' in main(page)


@pytest.mark.parametrize("path", ["map/embed", "map/embed?theme=dark", "map.svg?theme=dark"])
def test_so_does_a_map_by_itself(path: str, tables: Tables) -> None:
    assert "(driving)" in Client().get(f"{AT}/{path}").content.decode()


def test_who_asks_for_everything_gets_it_and_a_way_to_what_is_shown(
    client: Client, tables: Tables
) -> None:
    page = client.get(f"{AT}/map?metric=num_trips&activity=")
    assert "Here noise drowns every number" in words(page)
    assert f'<a href="{AT}/map">The default map</a>' in main(page)


def test_a_map_of_nothing_does_not_lead_to_itself(client: Client, quiet: Tables) -> None:
    page = client.get(f"{AT}/map")
    assert "Here noise drowns every number. Those of another window" in words(page)
    assert "The default map</a>" not in main(page)


def test_only_countries_that_the_chart_shows_are_links(client: Client, tables: Tables) -> None:
    found = Emissions(tables.shown.release, tables, None)
    assert set(found.by_place.values) == {"DE", "FR"}
    assert [name for name, _ in found.of_places] == ["France"]
    page = unescape(main(client.get("/emissions")))
    assert re.findall(r'href="\?[^"]*country=([A-Z]+)"', page) == ["FR"]


def test_a_country_without_numbers_is_still_the_one_that_is_chosen(
    client: Client, tables: Tables
) -> None:
    chosen = main(client.get("/emissions?country=DE"))
    assert '<option value="DE" selected>Germany</option>' in chosen
    assert '<option value="FR">France</option>' in chosen
    assert 'value="DE"' not in main(client.get("/emissions"))


def test_what_is_shown_comes_before_what_noise_drowns(client: Client, tables: Tables) -> None:
    said = words(client.get("/emissions")).partition("In words")[2]
    assert "the number for emissions is not shown" in said
    assert said.index("emitted") < said.index("the number for emissions is not shown")
    assert "activity=driving" in main(client.get("/emissions")).partition("On the map")[0]
