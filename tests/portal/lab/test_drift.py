"""Drift: released numbers held against those a mechanism was fitted on."""

import numpy as np
import pytest
from django.test import Client

from aggregation.calibration.clips import clip_by_quantile, norms_of
from aggregation.calibration.expecting import bounded_sums
from aggregation.calibration.scales import Scaled
from aggregation.clock import ManualClock
from aggregation.mechanisms import build_for
from aggregation.protocol.anonymization import GroupScaling
from aggregation.protocol.spec_reading import read_spec
from portal.lab.calibrating.fit import per_event
from portal.lab.comparing.seeded_noise import seeded_noise
from portal.lab.comparing.travellers import travellers
from portal.lab.drifting.holding import Released, Verdict, held_against, verdict_of
from portal.lab.drifting.reading import drift_of, drifts
from portal.releases.browsing.tables import Tables
from portal.releases.opening import opened
from portal.tasks.models import Provenance
from portal.tasks.provenance import note_provenance
from tests.portal.releases.browsing.conftest import collecting, few, kept, released, streams
from tests.portal.releases.conftest import first_database, keys, parts

__all__ = ["collecting", "few", "first_database", "kept", "keys", "parts", "released", "streams"]

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


def week(mechanism, *, seed, longer=1.0):
    """What a release of another week of the same people says by activity, with its intervals;
    they may go further than they used to."""
    proxy = travellers(regions=3, per_region=3000, seed=seed)
    proxy.rows.values[:, 1] *= longer
    arithmetic = build_for(mechanism, proxy.cells, proxy.metrics)
    cells = np.arange(proxy.cells.size)
    sums = np.zeros((len(cells), 3), dtype=np.int64)
    sums[proxy.seen] = bounded_sums(arithmetic, proxy, max_rows=64)
    sums += seeded_noise(2.0, sums.shape, seed=[seed])
    told = arithmetic.decode_cells(cells, sums)
    names = list(proxy.cells.domains[1])
    activity = proxy.cells.indices(cells, "activity")
    numbers = {}
    for number, name in enumerate(names):
        mine = told[activity == number]
        # 27 draws of Laplace noise with variance 2b², as a normal law.
        sizes = [2 * (2 * len(mine)) ** 0.5 * b for b in _noise(arithmetic, number)]
        for metric, total, size in zip(proxy.metrics, mine.sum(axis=0), sizes, strict=True):
            numbers[name, metric] = Released(float(total), size)
    return numbers


def _noise(arithmetic, number):
    """Mean size of the noise on one cell of an activity, by metric."""
    return arithmetic.noise(epsilon=2.0).mean_abs[number]


def test_it_cries_no_wolf_and_says_when_sizes_change():
    """Six weeks of one mechanism; in the last three, everybody goes 1.6 times as far."""
    mine = travellers(regions=3, per_region=3000, seed=1)
    scaled = Scaled.of(mine, ("activity",))
    clip = clip_by_quantile(norms_of(mine, scaled.by_row))
    mechanism = GroupScaling(("activity",), scaled.named, clip)
    proxy = per_event(mechanism, scaled, max_rows=64)
    usual = [verdict_of(held_against(proxy, week(mechanism, seed=s))) for s in (2, 3, 4)]
    moved = [
        verdict_of(held_against(proxy, week(mechanism, seed=s, longer=1.6))) for s in (5, 6, 7)
    ]
    assert usual == [Verdict.FITS] * 3
    assert moved == [Verdict.MOVED] * 3


@pytest.fixture
def fitted_on(released):
    """As if the release's mechanism had been fitted on data with these sizes before it was
    submitted."""
    revision = released[-1].window.revision
    mechanism = read_spec(revision.spec_text).anonymization.mechanism

    def note(per_event):
        facts = {"source": "a survey", "per_event": per_event}
        given = {"task": revision.task, "actor": revision.author}
        then = ManualClock(revision.submitted_at)
        note_provenance(mechanism=mechanism, facts=facts, clock=then, **given)
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
    # A sum over every cell has the noise of empty ones, too; here that is little.
    whole = shown[0].number.value / shown[1].number.value
    assert found.held[0].now == pytest.approx(whole, rel=0.01)
    assert found.held[0].half_width > 0


def test_slices_that_a_release_has_not_are_told(fitted_on):
    assert "does not have" in fitted_on({"by sledge": {"num_trips": 1.0}}).problem


def test_slices_without_common_names_are_told(fitted_on):
    """As a result that somebody made up may have them."""
    odd = {"driving": {"num_trips": 1.0}, "driving/within": {"num_trips": 1.0}}
    assert "not all named by the same keys" in fitted_on(odd).problem


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
