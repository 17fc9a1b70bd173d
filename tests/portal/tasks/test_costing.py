"""What pages say of the ledger before a decision is what the decision then meets."""

from datetime import date

import pytest

from aggregation.compiler import compile_spec
from aggregation.protocol.spec_reading import read_spec
from portal.ledger.models import Charge, Week
from portal.ledger.selectors import weeks_short_of
from portal.ledger.services import NotEnough, settle, use_up
from portal.streams.selectors import installed_catalog
from portal.tasks.costing import effects
from portal.tasks.editor_cost import cost
from portal.tasks.models import TaskWindow
from tests.portal.tasks.conftest import spec_text

MONDAY = date(2026, 11, 23)


@pytest.fixture
def told(clock):
    """Whether it fits that week, by the page of review and by the editor."""

    def ask(revision, **fields):
        spec = read_spec(spec_text(revision.task.name, **fields))
        compiled = compile_spec(spec, installed_catalog())
        costs = cost(compiled, task=revision.task.name, now=clock.now()).weeks
        found = [one for one in effects(revision, clock.now()) if one.week.monday == MONDAY]
        return found[0].fits, next(one for one in costs if one.label == "2026-W48").fits

    return ask


def test_a_week_that_fits_is_charged(submitted, approve, told):
    revision = submitted(epsilon=4)
    assert told(revision, epsilon=4) == (True, True)
    approve(revision)


def test_a_week_that_is_closed_fits_nothing_even_where_a_charge_came_free(
    active, submitted, approve, told, clock
):
    other = active("other", epsilon=2)
    use_up(streams=["trips"], mondays=[MONDAY], clock=clock)
    freed = [other.windows.get(start__date=MONDAY).as_window()]
    settle(task="other", spent=(), freed=freed, clock=clock)
    week = Week.objects.get(monday=MONDAY)
    assert (week.cap, week.reserved, week.spent) == (400, 0, 200)
    revision = submitted()
    assert told(revision) == (False, False)
    window = TaskWindow.objects.get(task=other, start__date=MONDAY).as_window()
    assert weeks_short_of(100, streams=["trips"], windows=[window]) == [str(week)]
    with pytest.raises(NotEnough):
        approve(revision)


def test_a_cap_that_was_raised_holds_for_weeks_that_are_charged_already(
    active, submitted, approve, told, settings
):
    active("other", epsilon=2)
    settings.WEEKLY_EPSILON = 800
    revision = submitted(epsilon=6)
    assert told(revision, epsilon=6) == (True, True)
    approve(revision)


def test_a_cap_that_was_lowered_holds_for_what_takes_its_own_place(
    active, revise, approve, told, settings
):
    """What the task holds now comes free first, and counts no more."""
    task = active(epsilon=3)
    revision = revise(task, epsilon="2.5", clip=30)
    settings.WEEKLY_EPSILON = 200
    assert told(revision, epsilon="2.5") == (False, False)
    with pytest.raises(NotEnough):
        approve(revision)
    assert set(Charge.objects.values_list("amount", "state")) == {(300, "reserved")}
