"""Places of which only a part is shown: a chart of the parts begins with them all the same."""

import numpy as np
import pytest
from django.http import QueryDict

from aggregation.release.noise import add_noise
from portal.releases import running, services
from portal.releases.browsing.charting import chart_of
from portal.releases.browsing.choosing import View
from portal.releases.models import Release
from tests.conftest import draw_from
from tests.portal.collection import collecting as module
from tests.portal.releases.browsing.conftest import ACTIVITIES, AFTER, BERLIN, LYON, PARIS, SPEC

CYCLING = 2
# Kilometres and trips by bicycle, in steps of a twentieth of 2^20. Alone they stand out of the
# noise; with that of eight other activities they do not.
BY_BICYCLE = {LYON: 700, BERLIN: 800, PARIS: 600}
_ONE = 2**20 / 20


@pytest.fixture
def streams(streams, monkeypatch):
    monkeypatch.setattr(module, "SPEC", SPEC.replace("by region and", "by bicycle, region and"))


@pytest.fixture
def released(collecting, few, kept, monkeypatch):
    def filled(report, recipe):
        sums = report.sums.reshape(len(few.places), ACTIVITIES, 2)
        for rank, place in enumerate(few.places):
            sums[rank, CYCLING] += np.int64(_ONE * BY_BICYCLE.get(place.geonameid, 0))
        return add_noise(report, recipe)

    monkeypatch.setattr(services, "add_noise", filled)
    draw_from("bicycles", monkeypatch)
    if not kept.is_there:
        collecting.go_to(AFTER)
        running.release_due_windows(clock=collecting.clock)
        running.render_releases()
        kept.keep()
    return list(Release.objects.order_by("window__start"))


def chart(query, tables):
    return chart_of(View.parse(QueryDict(query), tables), tables)


def test_it_begins_with_those_who_have_a_bar(tables):
    assert chart("by=region&metric=num_trips", tables).values == ()
    asked = "by=region&second=activity&metric=num_trips"
    found = chart(asked, tables)
    assert found.values == (str(BERLIN), str(LYON), str(PARIS))
    assert [round(found.totals[place].value, -2) for place in found.values] == [800, 700, 600]
    assert "All 3 places with any number are ranked here" in found.coverage
    first = chart(f"{asked}&top=2", tables)
    assert (first.values, first.left_out) == ((str(BERLIN), str(LYON)), 1)


def test_by_name_too(tables):
    found = chart("by=region&second=activity&metric=num_trips&sort=name", tables)
    assert found.labels == ("Berlin, DE", "Lyon, FR", "Paris, FR")


def test_countries_that_have_no_room_are_those_with_the_least(tables):
    found = chart("by=country&second=activity&metric=num_trips&top=1", tables)
    assert (found.values, found.left_out) == (("FR",), 1)
