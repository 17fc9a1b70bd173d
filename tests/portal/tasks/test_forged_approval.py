"""Past all rules of the database: an approval without the key runs nowhere."""

import pytest

from portal.tasks import opening, running
from portal.tasks.models import Revision, Task, TaskWindow
from portal.tasks.signing import is_trusted
from tests.portal.tasks.bypassing import FIRST, approval_by

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
    from portal.ledger.services import reserve
    from portal.tasks.activating import add_windows
    from portal.tasks.planning import first_window

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


def test_a_signature_is_not_moved_to_another_revision(submitted, approve, rafael):
    signed = approve(submitted())
    other = submitted("other")
    stolen = approval_by(rafael, signature=signed.signature, key_id=signed.key_id)
    Revision.objects.filter(pk=other.pk).update(**stolen)
    other = Revision.objects.select_related("approver").get(pk=other.pk)
    assert not is_trusted(other)
    assert is_trusted(Revision.objects.get(pk=signed.pk))


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
