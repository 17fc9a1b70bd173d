"""Drift: released numbers held against those a mechanism was fitted on."""

import pytest
from django.test import Client

from aggregation.protocol.spec_reading import read_spec
from portal.lab.drifting.holding import Released, Verdict, held_against, verdict_of
from portal.lab.drifting.reading import drift_of, drifts
from portal.releases.browsing.tables import Tables
from portal.releases.opening import opened
from portal.tasks.models import Provenance
from portal.tasks.provenance import note_provenance
from tests.portal.releases.browsing.conftest import few, released, streams
from tests.portal.releases.conftest import collecting, keys, parts

__all__ = ["collecting", "few", "keys", "parts", "released", "streams"]

PROXY = {"driving": {"num_trips": 1.0, "distance_km": 10.0}}


def held(km, *, noise=1.0, trips=1000.0):
    numbers = {
        ("driving", "num_trips"): Released(trips, noise),
        ("driving", "distance_km"): Released(km, noise * 10),
    }
    return held_against(PROXY, numbers)


@pytest.mark.parametrize(
    ("km", "noise", "verdict"),
    [
        (10_500, 1.0, Verdict.FITS),
        (8_000, 1.0, Verdict.FITS),
        (14_000, 1.0, Verdict.MOVED),
        (6_000, 1.0, Verdict.MOVED),
        # What noise alone could have done is not told as drift.
        (14_000, 200.0, Verdict.UNKNOWN),
        (-5, 1.0, Verdict.UNKNOWN),
    ],
)
def test_a_size_moves_by_more_than_noise_and_a_quarter(km, noise, verdict):
    [one] = held(km, noise=noise)
    assert one.verdict is verdict
    assert verdict_of([one]) is verdict


def test_what_is_suppressed_says_nothing():
    [one] = held_against(PROXY, {})
    assert one.verdict is Verdict.UNKNOWN
    assert verdict_of([]) is Verdict.UNKNOWN


def test_a_few_sizes_that_moved_leave_a_calibration_as_it_is():
    fits, moved = held(10_000), held(20_000)
    assert verdict_of(fits * 4 + moved) is Verdict.FITS
    assert verdict_of(fits * 2 + moved) is Verdict.MOVED


@pytest.fixture
def fitted_on(released, clock):
    """As if the release's mechanism had been fitted on data with these sizes."""
    revision = released[-1].window.revision
    mechanism = read_spec(revision.spec_text).anonymization.mechanism

    def note(per_event):
        facts = {"source": "a survey", "per_event": per_event}
        note_provenance(mechanism=mechanism, facts=facts, actor=revision.author, clock=clock)
        return drift_of(released[-1])

    return note


def test_it_reads_released_numbers_alone(released, fitted_on):
    tables = Tables(opened(released[-1]))
    key = next(k for k in tables.own_keys if k != tables.region_key)
    names = list(tables.domain(key))
    metric, other = tables.metrics[:2]
    found = fitted_on({name: {metric: 1.0, other: 2.0} for name in names})
    assert not found.problem
    assert [one.slice for one in found.held] == names
    assert any(one.now is not None for one in found.held)
    shown = tables.one(other, {key: names[0]}), tables.one(metric, {key: names[0]})
    if found.held[0].now is not None:
        assert found.held[0].now == pytest.approx(shown[0].number.value / shown[1].number.value)


def test_slices_that_a_release_has_not_are_told(fitted_on):
    assert "does not have" in fitted_on({"by sledge": {"num_trips": 1.0}}).problem


def test_parameters_typed_by_hand_are_held_against_nothing(released):
    assert not Provenance.objects.exists()
    assert drift_of(released[-1]).problem == "Its parameters were typed by hand."


def test_the_page_says_so(released, fitted_on):
    fitted_on({"by sledge": {"num_trips": 1.0}})
    client = Client()
    client.force_login(released[0].window.revision.author)
    page = client.get("/lab/drift").content.decode()
    assert "does not have" in page
    assert len(drifts()) == 1


def test_an_empty_page_says_what_comes(signed_in):
    assert "Nothing released yet" in signed_in("analyst").get("/lab/drift").content.decode()
