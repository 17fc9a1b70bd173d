"""Odd addresses: whatever somebody writes, there is a page or a clear sentence, and no error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.http import QueryDict
from django.test import Client

from aggregation.errors import Problem
from portal.releases import running
from portal.releases.browsing.emitting import tasks_with_emissions
from portal.releases.browsing.mapping import MapView, map_of
from portal.releases.browsing.tables import Tables
from portal.releases.models import Release
from portal.releases.series import series, windows_asked
from portal.releases.showing import Shown
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import someone
from tests.portal.releases.browsing.conftest import AFTER, FIRST, PARIS, SECOND, SPEC, rewrite

USUAL, REGIONS, NOTHING, OURS = "trips-by-region", "regions-alone", "no-keys", "our-words"
TASKS = (USUAL, REGIONS, NOTHING, OURS)
AT = f"/releases/{USUAL}/{SECOND}"
CHANGES = "colour=change&metric=num_trips"
HTMX = {"HX-Request": "true"}
ODD_ADDRESSES = 60
_KM = "SUM(distance_km) AS distance_km"


def spec(client_keys: str, keys: str, number: str = "num_trips") -> str:
    """The task of the fixtures by other keys, and so without emissions."""
    found = SPEC.replace("post_processing: emissions\n", "").replace(
        "epsilon: 0.5", "epsilon: 0.02"
    )
    start, _, rest = found.partition("client_sql")
    _, _, end = rest.partition("aggregation:\n")
    unit = "privacy_time_unit"
    return (
        f"{start}client_sql: |\n  SELECT {client_keys}{unit}, COUNT(*) AS {number}, {_KM}\n"
        f"  FROM trips GROUP BY {keys}{unit}\n"
        f"server_sql: |\n  SELECT {keys}{unit}, SUM({number}) AS {number}, {_KM},\n"
        f"  SUM(distance_km) / NULLIF(SUM({number}), 0) AS km_each\n"
        f"  FROM device_results GROUP BY {keys}{unit}\naggregation:\n{end}"
    )


SPECS = {
    REGIONS: spec("region, ", "region, "),
    # A column may have any name.
    NOTHING: spec("", "", "emissions"),
    OURS: spec("activity AS sort, region AS top, ", "sort, top, "),
}


@pytest.fixture
def many(collecting: Any, same_noise: None, monkeypatch: Any) -> dict[tuple[str, str], Release]:
    """Two days of tasks with all kinds of keys. Nobody took part: all is noise, or not shown."""
    collecting.clock.set(collecting.clock.now().replace(day=16))
    for name, text in SPECS.items():
        monkeypatch.setattr(module, "SPEC", text)
        collecting.activate(name)
    collecting.go_to(AFTER)
    for _ in range(2):
        running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    found = {(one.window.task.name, one.window.window): one for one in Release.objects.all()}
    assert {(task, day) for task in TASKS for day in (FIRST, SECOND)} <= set(found)
    return found


NAMES = [
    "metric",
    "by",
    "second",
    "sort",
    "top",
    "layout",
    "log",
    "measure",
    "within",
    "colour",
    "uncertainty",
    "theme",
    "task",
    "window",
    "with_window",
    "place",
    "with_place",
    "country",
    "region",
    "activity",
    "shares",
    "electric",
    "occupancy",
    "q",
    "page",
    "page_size",
    "format",
    "table",
    "parts",
    "order",
    "shown",
    "windows",
    "key.sort",
    "key.top",
    "key.region",
    "zz",
]
VALUES = [
    *("", " ", "x", "0", "-1", "1", "000001999999", "9" * 5000, "0" * 20 + "9" * 5000, "1e400"),
    *("nan", "\x00", "\udc80", "'; DROP TABLE x --", '"', "<svg onload=alert(1)>", "\u202e", "ß"),
    *("region", "country", "activity", "sort", "top", "distance_km", "num_trips", "co2e_kg"),
    *("share", "person", "multiples", "stacked", "name", "change", "api", "-top", "-region"),
    *("FR", "fr", str(PARIS), "Paris, FR", ",", ", FR", "cycling", "driving", "latest", FIRST),
    *("cells", "total", "by-region", "by-country", "emissions-cells", *TASKS),
]
PAGES = [
    "",
    "/map",
    "/table",
    "/chart.svg",
    "/map.svg",
    "/embed",
    "/map/embed",
    "/card",
    "/check",
    "/dictionary",
    "/files/total.csv",
    "/files/cells.json",
    "/files/cells.geojson",
    "/files/by-country.csv",
    "/files/cells.parquet",
    "/files/x",
]
OTHERS = ["/releases", "/releases/compare", "/places", "/emissions", "/api/v1/releases"]
OTHERS += [f"/places/{PARIS}", "/places/" + "9" * 5000, "/countries/FR", "/countries/ß"]


def addresses() -> Iterator[str]:
    yield from OTHERS
    for task in TASKS:
        yield from (f"/releases/{task}", f"/releases/{task}/feed.atom")
        yield f"/api/v1/releases/{task}/series"
        yield from (f"/releases/{task}/{SECOND}{page}" for page in PAGES)
        yield from (f"/api/v1/releases/{task}/latest{page}" for page in ("", "/cells"))


def odd() -> Iterator[tuple[str, dict[str, str]]]:
    """The same ones on every run."""
    chosen = random.Random(1)
    known = list(addresses())
    for _ in range(ODD_ADDRESSES):
        path = chosen.choice(chosen.choice((known, OTHERS)))
        pairs = [
            f"{chosen.choice(NAMES)}={quote(chosen.choice(VALUES).encode(errors='surrogateescape'))}"
            for _ in range(chosen.choice((1, 2, 3)))
        ]
        yield f"{path}?{'&'.join(pairs)}", chosen.choice(({}, HTMX))


def test_odd_addresses_have_answers(many):
    guest = Client(raise_request_exception=False)
    answers = [(path, {}) for path in addresses()] + list(odd())
    wrong = [
        path for path, headers in answers if guest.get(path, headers=headers).status_code >= 500
    ]
    assert wrong == []


def test_odd_questions_are_told_so(many):
    """One after the other, since releasing takes longer than asking."""
    _a_chart_has_no_more_rows_than_it_may()
    _inhabitants_need_a_place()
    _windows_of_all_tasks_are_compared()
    _a_scenario_without_numbers_is_a_sentence()
    _names_of_places_are_few_and_not_blank()
    _ratios_have_no_shares()
    assert tasks_with_emissions(someone("carla", "consumer")) == [USUAL]


def test_other_revisions_had_other_keys(many, settings):
    """Here two tasks stand for two revisions: all cells are called the same in both."""
    rows = [many[USUAL, FIRST], many[REGIONS, SECOND]]
    query = QueryDict(f"region={PARIS}")
    assert [row["window"] for row in series(rows, table="cells", query=query)] == [SECOND]
    now, then = (Tables(Shown(many[task, SECOND])) for task in (USUAL, REGIONS))
    view = MapView("num_trips", where={"activity": "cycling"}, within="FR", colour="change")
    assert {spot.shade for spot in map_of(view, now, then).places} == {None}
    _places_that_are_not_installed_are_told(settings.DATA / "streams" / "places.sqlite")


def _a_chart_has_no_more_rows_than_it_may() -> None:
    for text in ("51", "000001999999", "0" * 20 + "9" * 5000):
        assert Client().get(f"{AT}/chart.svg?top={text}").status_code == 400
    for text in ("521", "0000000019", "0" * 20 + "9" * 5000):
        with pytest.raises(Problem):
            windows_asked(text)
    page = Client().get(f"{AT}/table?page=00000000001{'9' * 5000}").content.decode()
    assert "page is a whole number" in page


def _inhabitants_need_a_place() -> None:
    for path in (f"{AT}/chart.svg?region=%20&", f"/releases/{NOTHING}/{SECOND}/chart.svg?"):
        answer = Client().get(f"{path}measure=person")
        assert (answer.status_code, b"Inhabitants" in answer.content) == (400, True)


def _windows_of_all_tasks_are_compared() -> None:
    for task, sentence in ((REGIONS, "France"), (NOTHING, "no table by nothing")):
        assert sentence in Client().get(f"/releases/compare?task={task}").content.decode()


def _a_scenario_without_numbers_is_a_sentence() -> None:
    said = Client().get("/emissions", headers=HTMX).content.decode()
    assert "Emissions of cars are not shown here" in said


def _names_of_places_are_few_and_not_blank() -> None:
    assert Client().get(f"{AT}/table?table=by-region&region=%20").context["asked"].where == {}
    names = "&".join(f"region=p{n}" for n in range(21))
    assert "More than 20 names" in Client().get(f"{AT}/table?{names}").content.decode()


def _ratios_have_no_shares() -> None:
    at = f"/releases/{REGIONS}/{SECOND}"
    for path in (f"{at}/chart.svg?measure=share", f"{at}/chart.svg?by=region&measure=person"):
        assert b"km_each is a ratio" in Client().get(f"{path}&metric=km_each").content
    compared = Client().get(f"/releases/compare?task={REGIONS}&shares=1&metric=km_each")
    assert b"km_each is a ratio" in compared.content
    assert Client().get(f"{at}/chart.svg?metric=km_each").status_code == 200


def _places_that_are_not_installed_are_told(file: Path) -> None:
    file.unlink()
    for path in ("/places", "/places?q=a", f"/places/{PARIS}", "/countries/FR"):
        answer = Client().get(path)
        assert (answer.status_code, b"not installed" in answer.content) == (503, True)
    assert Client().get(AT).status_code == 200


def test_an_internal_window_is_nowhere_for_guests(released):
    """Its neighbour is public: nothing there tells of it, not even that there is one."""
    _make_internal(released[0])
    asked = [f"{path}?{CHANGES}" for path in addresses() if USUAL in path or path in OTHERS]
    stranger = Client()
    stranger.force_login(someone("nobody"))
    for viewer in (Client(), stranger):
        for path in [*(one.partition("?")[0] for one in asked), *asked]:
            told = viewer.get(path)
            text = b"" if told.streaming else told.content
            assert FIRST.encode() not in text, path
            assert b"the day before" not in text, path
        for page in PAGES:
            assert viewer.get(f"/releases/{USUAL}/{FIRST}{page}").status_code in (302, 404), page
        for window in (f"with_window={FIRST}", f"window={FIRST}"):
            assert "found" not in viewer.get(f"/releases/compare?{window}").context


def _make_internal(release: Release) -> None:
    """As if an earlier revision had been so."""
    rewrite(release, audience=Release.Audience.INTERNAL)
