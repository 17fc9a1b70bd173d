"""Past all rules of the database: an approval without the key runs nowhere."""

import pytest

from portal.ledger.models import Charge
from portal.ledger.services import reserve
from portal.tasks import opening, running, services
from portal.tasks.activating import add_windows
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.planning import first_window
from portal.tasks.signing import is_trusted
from tests.portal.tasks.bypassing import (
    FIRST,
    approval_by,
    copy_of,
    execute,
    refused_by_the_database,
)

pytestmark = pytest.mark.databases


def test_an_approval_without_the_key_runs_nowhere(submitted, rafael, clock):
    """Someone with raw SQL names a reviewer who never looked. Every rule of the database holds."""
    revision = submitted()
    Revision.objects.filter(pk=revision.pk).update(**approval_by(rafael))
    Task.objects.filter(pk=revision.task_id).update(state="active")
    forged = Revision.objects.select_related("task", "approver").get(pk=revision.pk)
    assert not is_trusted(forged)
    opening.extend_windows(task=forged.task, clock=clock)
    assert not TaskWindow.objects.exists()
    assert running.pause_if_untrusted(task=forged.task, clock=clock)
    assert Task.objects.get().state == "paused"


def test_a_forged_window_is_not_opened(submitted, rafael, clock):
    """The forger charges and makes the window, too."""
    revision = submitted()
    Revision.objects.filter(pk=revision.pk).update(**approval_by(rafael))
    Task.objects.filter(pk=revision.task_id).update(state="active")
    forged = Revision.objects.select_related("task").get(pk=revision.pk)
    window = first_window(forged.task, "week", clock.now())
    reserve(task=forged.task.name, streams=["trips"], windows=[window], hundredths=100, clock=clock)
    add_windows(forged, [window])
    clock.set(FIRST)
    opening.advance_windows(task=forged.task, clock=clock)
    row = TaskWindow.objects.get()
    assert row.state == "skipped"
    assert "does not verify" in row.reason


@pytest.mark.parametrize(
    ("streams", "hundredths"),
    [(["trips"], 99), (["assistant"], 100), (["assistant", "trips"], 100)],
    ids=["too little", "another stream", "a stream more"],
)
def test_a_window_opens_for_its_own_price_only(submitted, approve, clock, streams, hundredths):
    """A real approval, windows and charges by hand. Every rule of the database holds."""
    revision = approve(submitted())
    task = revision.task
    window = task.windows.latest("start").as_window().next()
    reserve(task=task.name, streams=streams, windows=[window], hundredths=hundredths, clock=clock)
    add_windows(revision, [window])
    clock.set(window.start)
    opening.advance_windows(task=task, clock=clock)
    row = task.windows.get(window=window.id)
    assert row.state == "skipped"
    assert "is not what it costs" in row.reason
    charges = Charge.objects.filter(window=window.id)
    assert set(charges.values_list("state", flat=True)) == {"spent"}


def test_a_signature_is_not_moved_to_another_revision(submitted, approve, rafael):
    signed = approve(submitted())
    other = submitted("other")
    stolen = approval_by(rafael, signature=signed.signature, key_id=signed.key_id)
    refused_by_the_database(lambda: Revision.objects.filter(pk=other.pk).update(**stolen))
    # For somebody who has dropped that rule.
    for field, value in stolen.items():
        setattr(other, field, value)
    assert not is_trusted(other)
    assert is_trusted(Revision.objects.get(pk=signed.pk))


def test_an_approval_does_not_start_a_paused_task_again(active, ada, clock):
    """All that was approved once is written again, as a revision that nobody has looked at."""
    task = active()
    approved = task.revisions.get()
    services.pause(task=task, reason="Stop.", actor=ada, clock=clock)
    copy = copied(approved, to=task, number=2)
    refused_by_the_database(lambda: Revision.objects.filter(pk=copy.pk).update(**of(approved)))


def test_an_approval_is_not_taken_to_another_task(active, drafted, ada, clock):
    """Not even once its own revision is gone: windows of the other task would be its own."""
    task = active("first")
    approved = task.revisions.get()
    copy = copied(approved, to=drafted("second"), number=1)
    for field, value in of(approved).items():
        setattr(copy, field, value)
    assert is_trusted(approved)
    assert not is_trusted(copy)
    copy.task = task
    assert is_trusted(copy)


def copied(revision, *, to, number):
    """By raw SQL, with every rule of the database in place."""
    undecided = {"approver_id", "approved_at", "decided_at", "first_window", "until_window"}
    execute(
        copy_of(
            Revision,
            pk=revision.pk,
            task_id=str(to.pk),
            number=str(number),
            state="'in_review'",
            key_id="''",
            signature="''",
            **dict.fromkeys(undecided, "NULL"),
        )
    )
    return Revision.objects.get(task=to, number=number)


def of(approved):
    """The columns of a real approval."""
    return {field: getattr(approved, field) for field in approval_by(approved.approver)}


@pytest.mark.parametrize(
    ("field", "value"),
    [("epsilon", 1), ("window_unit", "hour"), ("streams", ["assistant"]), ("spec_json", "{}")],
)
def test_a_signed_revision_with_another_price_is_not_trusted(submitted, approve, field, value):
    """For somebody who has dropped the triggers: the columns must say what was signed."""
    revision = approve(submitted())
    assert is_trusted(revision)
    setattr(revision, field, value)
    assert not is_trusted(revision)
