"""The clip uncertainty of the demo's tasks is that of its world, bounded by the code of phones."""

import numpy as np
import pytest

from aggregation.compiler import Compiled, compile_spec
from aggregation.errors import Problem
from aggregation.ondevice.bounding import Rows
from aggregation.release.clip_fit import fit_clip_uncertainty
from aggregation.release.recipe import Recipe
from devices_sim.fleet.ground_truth import METRICS, sums_by_phone
from portal.tasks.starting_points import starting_point
from tests.aggregation.release.population import Population, summed
from tests.devices_sim.fleet.small_world import WEEK, real_catalog, world


def _people(made: Recipe) -> Population:
    """The demo's phones in a week: what each has in each cell."""
    parts = list(sums_by_phone(world("demo"), "trips", WEEK, keys=made.cells.names))
    phone = np.concatenate([part.phone for part in parts])
    cells = np.concatenate([part.cell for part in parts])
    values = np.concatenate([part.units for part in parts]) / [1, *METRICS["trips"].values()]
    values = values[:, : len(made.metrics)]  # trips, kilometres, minutes
    truth = np.zeros(made.shape)
    np.add.at(truth, cells, values)
    firsts = np.flatnonzero(np.diff(phone, prepend=-1))
    return Population(Rows(np.append(firsts, len(phone)), cells, values), truth)


@pytest.mark.parametrize("slug", ["weekly-trips", "country-modal-split"])
def test_the_demos_tasks_know_what_their_bound_takes(slug: str) -> None:
    """Within a tenth: they are this very fit, rounded."""
    compiled = compile_spec(starting_point(slug).spec, real_catalog())
    assert isinstance(compiled, Compiled)
    made = Recipe.of(compiled.server_config, real_catalog().domain)
    people = _people(made)
    clipped = made.arithmetic.decode(summed(made, people).sums)
    fitted = fit_clip_uncertainty(
        people.truth, clipped, made.cells, made.metrics, count="num_trips", source="This test"
    )
    given = made.config.clip_uncertainty
    assert given is not None
    for metric, terms in fitted.metrics.items():
        for term in ("random", "systematic"):
            ratio = getattr(terms, term) / getattr(given.metrics[metric], term)
            assert 0.9 < ratio < 1.1, (metric, term, ratio)
        for term in ("together", "alike"):
            apart = abs(getattr(terms, term) - getattr(given.metrics[metric], term))
            assert apart < 0.05, (metric, term, apart)


def test_it_refuses_a_proxy_with_too_little_in_its_cells() -> None:
    compiled = compile_spec(starting_point("country-modal-split").spec, real_catalog())
    assert isinstance(compiled, Compiled)
    made = Recipe.of(compiled.server_config, real_catalog().domain)
    nothing = np.zeros(made.shape)
    with pytest.raises(Problem, match="No cell of the proxy data has 100 events"):
        fit_clip_uncertainty(
            nothing, nothing, made.cells, made.metrics, count="num_trips", source="Nobody"
        )
