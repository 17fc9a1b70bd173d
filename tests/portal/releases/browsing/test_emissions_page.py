"""The page of emissions: its links stay on it, and nothing stands for nothing."""

import re
from html import unescape

import pytest
from django.test import Client

from portal.releases.browsing import emitting
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from tests.portal.releases.browsing.conftest import FIRST, LYON, PARIS, SECOND
from tests.portal.releases.browsing.test_browsing_pages import main, words

TASK = "trips-by-region"


def tiles(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'class="window-tile" href="([^"]+)"', page)]


@pytest.mark.parametrize("asked", ["", "?country=FR&electric=50", f"?place={LYON}"])
def test_other_windows_are_on_the_same_page_with_what_was_chosen(
    client: Client, released: list[Release], asked: str
) -> None:
    found = tiles(main(client.get(f"/emissions{asked}")))
    assert [one.partition("window=")[2] for one in found] == [FIRST, SECOND]
    for one in found:
        assert one.startswith(f"?task={TASK}&")
        assert asked.removeprefix("?") in one
        assert client.get(f"/emissions{one}").status_code == 200


def test_places_are_links_to_their_own_emissions(client: Client, released: list[Release]) -> None:
    page = unescape(main(client.get("/emissions?occupancy=2")))
    (address,) = re.findall(rf'"(\?[^"]*place={PARIS})"', page)
    assert "occupancy=2" in address
    assert f"window={SECOND}" in address
    assert "people in Paris emitted" in words(client.get(f"/emissions{address}"))


def test_another_task_that_lacks_the_window_shows_its_newest(
    client: Client, released: list[Release]
) -> None:
    asked = f"/emissions?task={TASK}&window=2026-11-02"
    assert client.get(asked).status_code == 404
    assert f"window={SECOND}" in unescape(main(client.get(f"{asked}&was=other")))


def test_what_emits_nothing_has_no_bar_and_a_sentence(
    client: Client, released: list[Release], tables: Tables
) -> None:
    found = emitting.Emissions(released[1], tables, None)
    assert found.emitting_nothing == ["walking", "running", "cycling"]
    assert not {"walking", "running", "cycling"} & set(found.by_activity.labels)
    assert "driving" in found.by_activity.labels
    said = words(client.get("/emissions"))
    assert "Nothing is emitted by walking, running, cycling: no fuel is burnt." in said
    assert "0 ± 0" not in said


def test_a_task_without_distances_says_so_and_names_those_that_have_them(
    client: Client, released: list[Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emitting, "_ASKED_FOR", "nobody asks for this")
    assert "No emissions are released yet" in words(client.get(f"/emissions?task={TASK}"))
    from portal.releases import views_emissions

    monkeypatch.setattr(views_emissions, "tasks_with_emissions", lambda viewer: ["other"])
    page = client.get(f"/emissions?task={TASK}")
    assert f"{TASK} has nothing to compute emissions from." in words(page)
    assert 'href="/emissions?task=other"' in main(page)


def test_a_slider_says_where_it_stands(client: Client, released: list[Release]) -> None:
    page = main(client.get("/emissions?electric=30&occupancy=1.6"))
    assert re.search(r'<output for="electric"[^>]*>30 %</output>', page)
    assert re.search(r'<output for="occupancy"[^>]*>1\.6 persons</output>', page)
