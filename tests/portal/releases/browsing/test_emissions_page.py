"""The page of emissions: its links stay on it, and nothing stands for nothing."""

import re
from html import unescape

import pytest
from django.test import Client

from aggregation.release.emission_factors import factor_table
from aggregation.release.scenario import Cars, Scenario
from portal.releases.browsing import emitting
from portal.releases.browsing.placing import Subject
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
    assert not re.search(r"(?<![\d.,])0 ± 0(?![\d.])", said)


@pytest.mark.parametrize("country", ["", "FR"])
def test_emptier_cars_leave_the_total_as_uncertain_as_they_are(
    released: list[Release], tables: Tables, country: str
) -> None:
    """What noise did to cars is in the total already: it grows with them, and not apart."""
    found = emitting.Emissions(released[1], tables, Subject.of_country(country))
    emptier = Scenario(occupancy=1.0)
    total = found.total(emptier)
    (cars,) = (one for one in found.outcomes(emptier) if one.activity == "driving")
    gained = cars.scenario.half_width - cars.released.half_width
    assert gained > 0.2 * cars.released.half_width
    assert total.scenario.half_width == pytest.approx(total.released.half_width + gained)
    more = cars.scenario.value - cars.released.value
    assert total.scenario.value == pytest.approx(total.released.value + more)


def test_fuller_cars_leave_the_total_no_less_certain(
    released: list[Release], tables: Tables
) -> None:
    total = emitting.Emissions(released[1], tables, None).total(Scenario(occupancy=4.0))
    assert total.scenario.value < total.released.value
    assert total.scenario.half_width == total.released.half_width


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


def test_a_slider_that_nobody_moved_changes_nothing(
    client: Client, released: list[Release]
) -> None:
    """A form sends both, and the average country's cars are no other country's."""
    standing = Cars.of("*", factor_table())
    alone = words(client.get("/emissions?electric=10"))
    both = words(client.get(f"/emissions?electric=10&occupancy={standing.occupancy:g}"))
    assert alone == both
    assert "With 10 % of cars electric; all else as it is." in both
    assert "people in each car" in words(client.get("/emissions?electric=10&occupancy=2"))
    share = round(100 * standing.electric_share, 1)
    unmoved = f"/emissions?electric={share}&occupancy={standing.occupancy:g}"
    assert words(client.get(unmoved)) == words(client.get("/emissions"))
    assert not any("electric=" in one for one in tiles(main(client.get(unmoved))))


def test_more_electric_cars_emit_less_in_all_countries_together(
    released: list[Release], tables: Tables
) -> None:
    found = emitting.Emissions(released[1], tables, None)
    asked = {"electric": "10", "occupancy": f"{found.cars.occupancy:g}"}
    scenario = emitting.parse_scenario(asked, found.cars)
    assert scenario == Scenario(electric=0.1)
    total = found.total(scenario)
    assert total.scenario.value < total.released.value


def test_the_first_places_are_told_with_how_they_got_there(
    released: list[Release], tables: Tables
) -> None:
    found = emitting.Emissions(released[1], tables, None)
    names = [name for name, _ in found.of_places]
    assert names == list(found.by_place.labels[:3])
    assert all(set(where) == {"region"} for _, where in found.of_places)
    assert emitting.Emissions(released[1], tables, Subject.of_region(LYON)).of_places == []


def test_a_place_says_that_nothing_is_emitted_only_if_it_is_asked(
    client: Client, released: list[Release]
) -> None:
    cycled = words(client.get(f"/places/{LYON}?metric=num_trips&activity=cycling"))
    assert "emissions" not in cycled.partition("In words")[2].partition("Over time")[0].lower()
    asked = words(client.get(f"/places/{LYON}?metric=co2e_kg&activity=cycling"))
    assert "nothing was emitted by cycling in Lyon: no fuel is burnt." in asked
    assert "the factor for it is 0" not in cycled + asked


def test_where_most_is_emitted_says_whether_it_is_certain_and_who_takes_part(
    client: Client, released: list[Release]
) -> None:
    said = words(client.get("/emissions"))
    assert re.search(r"comes first with [\d.,]+ ± .+?, then ", said)
    assert "places where more people take part, rank higher" in said


def test_how_many_cars_are_electric_is_not_told_where_nobody_knows(
    client: Client, released: list[Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = words(client.get(f"/emissions?place={LYON}"))
    assert re.search(r"the factor takes [\d.]+ % of cars to be electric", known)
    cars = Cars.of("US", factor_table())
    monkeypatch.setattr(emitting.Emissions, "cars", cars)
    unknown = words(client.get(f"/emissions?place={LYON}"))
    assert "0 % of cars" not in unknown
    assert "how many of them are electric is not known" in unknown
    assert "Electric cars not known" in unknown
    chosen = words(client.get(f"/emissions?place={LYON}&electric=30"))
    assert "With 30 % of cars electric" in chosen


def test_factors_name_their_country(client: Client, released: list[Release]) -> None:
    page = client.get(f"/emissions?place={LYON}")
    assert "Factors: France" in words(page)
    assert "CO2e" not in main(page)


def test_a_task_that_is_not_there_is_told_with_those_that_are(
    client: Client, released: list[Release]
) -> None:
    page = client.get("/emissions?task=nope")
    said = unescape(words(page))
    assert f"There is no task with emissions that is called 'nope'. There is only {TASK}." in said
    assert f'href="/emissions?task={TASK}"' in main(page)
