"""Windows in addresses: by what people call them, and those that are not released yet."""

from typing import Any

import pytest
from django.test import Client

from portal.releases import running
from portal.releases.finding import window_called
from portal.releases.models import Release
from portal.tasks.models import TaskWindow
from tests.portal.collection import collecting as module
from tests.portal.collection.collecting import someone
from tests.portal.releases.browsing.conftest import SPEC
from tests.portal.releases.browsing.test_browsing_pages import TASK, main, words

WEEKLY, INTERNAL = "weekly", "internal"
MONDAY, LABEL = "2026-11-23", "2026-W48"
WAITING = "2026-W49"
DUE = "due from 2026-12-09 00:00 UTC on"


@pytest.fixture
def weekly(collecting: Any, monkeypatch: Any) -> Release:
    """The first week of a public task, its next one waiting; and the same of an internal task."""
    week = SPEC.replace("unit: day", "unit: week").replace("epsilon: 0.5", "epsilon: 0.1")
    for name, text in {
        WEEKLY: week,
        INTERNAL: week.replace("audience: public", "audience: internal"),
    }.items():
        monkeypatch.setattr(module, "SPEC", text)
        collecting.activate(name)
    for moment in ("2026-11-23T00:00:00", "2026-11-30T00:00:00", "2026-12-02T00:00:00"):
        collecting.go_to(moment)
        for _ in range(9):
            running.release_due_windows(clock=collecting.clock)
    running.render_releases()
    assert TaskWindow.objects.get(task__name=WEEKLY, window="2026-11-30").state == "collecting"
    return Release.objects.get(window__task__name=WEEKLY)


@pytest.mark.parametrize(
    ("label", "first"),
    [
        ("2026-W49", "2026-11-30"),
        ("2026-W01", "2025-12-29"),
        ("2026-11", "2026-11-01"),
        ("2026-W54", None),
        ("2025-W53", None),
        ("2026-w49", None),
        ("2026-W9", None),
        ("2026-13", None),
        ("9999-12", None),
        ("0000-01", None),
        ("2026-11-30", None),
        ("2026-W49-1", None),
        ("latest", None),
        ("", None),
        ("٢٠٢٦-11", None),
    ],
)
def test_a_label_is_a_week_or_a_month(label: str, first: str | None) -> None:
    found = window_called(label)
    assert (found.id if found else None) == first


def test_a_label_leads_to_the_address_that_stays(weekly: Release) -> None:
    guest = Client()
    for page in ("", "/map", "/table", "/card", "/check"):
        found = guest.get(f"/releases/{WEEKLY}/{LABEL}{page}?metric=num_trips&x=%C3%9F")
        assert found.status_code == 302
        at = f"/releases/{WEEKLY}/{MONDAY}{page}"
        assert found["Location"] == f"{at}?metric=num_trips&x=%C3%9F"
        assert guest.get(f"/releases/{WEEKLY}/{LABEL}{page}")["Location"] == at
    for page in ("embed", "map/embed", "chart.svg", "dictionary", "files/cells.csv"):
        assert guest.get(f"/releases/{WEEKLY}/{LABEL}/{page}").status_code == 200, page


def test_a_week_is_no_day(client: Client, released: list[Release]) -> None:
    """The days of a daily task include Mondays and firsts."""
    for label in ("2026-W47", "2026-11"):
        assert client.get(f"/releases/{TASK}/{label}").status_code == 404


def test_what_is_not_released_yet_is_told_with_when_it_is_due(
    client: Client, weekly: Release
) -> None:
    for viewer in (client, Client()):
        for window in (WAITING, "2026-11-30", "2026-11-30/map"):
            found = viewer.get(f"/releases/{WEEKLY}/{window}")
            assert found.status_code == 404
            said = words(found)
            assert f"{WEEKLY} has no release of {WAITING}, the week of 30 Nov – 6 Dec 2026," in said
            assert DUE in said
            assert f'href="/releases?task={WEEKLY}"' in main(found)
    dictionary = client.get(f"/releases/{WEEKLY}/{WAITING}/dictionary")
    assert (dictionary.status_code, DUE in words(dictionary)) == (404, True)


def test_of_an_internal_task_only_people_with_a_role_are_told(
    client: Client, weekly: Release
) -> None:
    assert DUE in words(client.get(f"/releases/{INTERNAL}/{WAITING}"))
    stranger = Client()
    stranger.force_login(someone("nobody"))
    for window in (WAITING, "2026-11-30", LABEL, MONDAY):
        paths = [f"/releases/{task}/{window}" for task in (INTERNAL, "no-such-task")]
        mine, none = (Client().get(path) for path in paths)
        assert (mine.status_code, none.status_code) == (302, 302)
        assert mine["Location"].replace(INTERNAL, "no-such-task") == none["Location"]
        mine, none = (stranger.get(path) for path in paths)
        assert (mine.status_code, none.status_code) == (404, 404)
        assert words(mine).replace(INTERNAL, "no-such-task") == words(none)
    now = stranger.get("/now").content.decode()
    assert TASK in now
    assert INTERNAL not in now


def test_guests_are_told_nothing_without_public_releases(weekly: Release, settings: Any) -> None:
    settings.PUBLIC_RELEASES = False
    assert Client().get(f"/releases/{WEEKLY}/{WAITING}")["Location"].startswith("/login")
    stranger = Client()
    stranger.force_login(someone("nobody"))
    assert DUE not in words(stranger.get(f"/releases/{WEEKLY}/{WAITING}"))


def test_a_window_that_was_skipped_is_not_due(client: Client, weekly: Release) -> None:
    TaskWindow.objects.filter(task__name=WEEKLY, window="2026-11-30").update(state="skipped")
    found = client.get(f"/releases/{WEEKLY}/{WAITING}")
    assert (found.status_code, "due" in words(found)) == (404, False)
