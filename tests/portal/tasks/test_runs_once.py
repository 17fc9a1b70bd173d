"""A task with a built-in step runs one window, pays for it, and for no other."""

from datetime import timedelta
from decimal import Decimal

import pytest

from aggregation.compiler import compile_spec
from aggregation.errors import Problem
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.spec_text import read_document
from portal.audit.models import Entry
from portal.audit.services import move
from portal.ledger.models import Charge
from portal.streams.selectors import installed_catalog
from portal.tasks import jobs, opening, running, services
from portal.tasks.costing import effects
from portal.tasks.editor_consequences import Situation, consequences
from portal.tasks.editor_cost import cost
from portal.tasks.models import Draft, Task, TaskWindow
from tests.portal.tasks.conftest import spec_text

STEP = "step: {kind: slice_norms, by: [activity], lowest: {n: 1}}\n"


@pytest.fixture
def calibrating(drafted, approve, ada, clock):
    """A revision of a calibration in review, of a new task or of this one."""

    def submit(task=None, **fields):
        task = task or drafted("calibration")
        draft = Draft.objects.get(task=task)
        text = spec_text(task.name, clip=1, **fields) + STEP
        saved = services.save_draft(
            task=task, text=text, base_version=draft.version, actor=ada, clock=clock
        )
        return services.submit(task=task, version=saved.version, actor=ada, clock=clock)

    return submit


@pytest.mark.parametrize(("unit", "grace"), [("week", 24), ("hour", 1)])
def test_it_is_charged_for_one_window(calibrating, approve, clock, unit, grace):
    revision = calibrating(unit=unit, grace=grace)
    assert [effect.wanted for effect in effects(revision, clock.now())] == [100]
    task = approve(revision).task
    assert (task.state, task.windows.count()) == ("active", 1)
    for _ in range(5):
        clock.advance(timedelta(days=7))
        opening.advance_windows(task=task, clock=clock)
        opening.extend_windows(task=task, clock=clock)
    assert [row.state for row in task.windows.all()] == ["grace"]
    assert [charge.amount for charge in Charge.objects.filter(task=task.name)] == [100]


def test_its_one_window_has_to_fit_a_week(calibrating):
    with pytest.raises(Problem, match="With ε = 5, one week can cost 5, and each week has 4"):
        calibrating(unit="hour", grace=1, epsilon=5)


def test_it_ends_by_itself_once_its_window_is_over(calibrating, approve, clock):
    task = approve(calibrating()).task
    jobs._extend(task=task, clock=clock)
    assert Task.objects.get(pk=task.pk).state == "active"
    move(task.windows.get(), to=TaskWindow.State.SKIPPED, clock=clock, reason="A test.")
    jobs._extend(task=task, clock=clock)
    assert Task.objects.get(pk=task.pk).state == "ended"
    last = Entry.objects.filter(action="task.ended", object_id=str(task.pk)).get()
    assert last.actor_id is None


def test_it_stays_while_another_revision_waits(calibrating, approve, clock):
    task = approve(calibrating()).task
    [row] = task.windows.all()
    move(row, to=TaskWindow.State.SKIPPED, clock=clock, reason="A test.")
    waiting = calibrating(task, epsilon=2)
    assert not running.end_if_over(task=task, clock=clock)
    services.withdraw(revision=waiting, actor=task.created_by, clock=clock)
    assert running.end_if_over(task=task, clock=clock)


def test_questions_go_on(active, clock):
    assert not running.end_if_over(task=active(), clock=clock)


def test_the_editor_says_so(calibrating, clock):
    """A day at ε = 1 fits: it is not charged seven times a week."""
    text = Draft.objects.get(task=calibrating(unit="day", grace=6).task).text
    compiled = compile_spec(read_spec(text), installed_catalog())
    told = cost(compiled, task="calibration", now=clock.now())
    assert (told.fits, told.once, [week.wanted for week in told.weeks]) == (True, True, [100])
    said = consequences(Situation(read_document(text).value, Decimal(4), clock.now()))
    assert "for the one day that the task runs" in said["anonymization.epsilon"]
    assert "window.unit" not in said


def test_another_revision_takes_the_window_over(calibrating, approve):
    task = approve(calibrating()).task
    approve(calibrating(task, epsilon=2))
    assert [row.revision.number for row in task.windows.all()] == [2]
    assert [c.amount for c in Charge.objects.filter(task=task.name, state="reserved")] == [200]


def test_a_question_does_not_become_a_calibration(active, calibrating):
    with pytest.raises(Problem, match="from a question to a calibration"):
        calibrating(active())
