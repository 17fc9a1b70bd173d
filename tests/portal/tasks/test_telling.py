"""Who is told of what happens to a task: those who take part, as long as they may see it."""

import pytest

from aggregation.protocol.windows import Unit, Window
from portal.accounts.models import Grant, Person, Role
from portal.notifications.models import Delivery, Event, Notification
from portal.tasks import services, telling
from portal.tasks.models import Comment
from portal.tasks.shortage import Shortage

pytestmark = pytest.mark.databases
WINDOW = Window.parse("2026-11-23", Unit.WEEK)
SHORT = Shortage(stream="trips", week="2026-W48", wanted=100, left=50, windows=(WINDOW,))


def _decided(revision, said, actor, clock):
    telling.decided(revision, Comment.Decision.REJECTED, said, actor=actor, clock=clock)


# Everything that is told of, with somebody who does it where somebody does.
OCCASIONS = {
    "submitted": lambda r, said, actor, clock: telling.submitted(r, replaced=None, clock=clock),
    "decided": _decided,
    "commented": lambda r, said, actor, clock: telling.commented(said, clock=clock),
    "stopped": lambda r, said, actor, clock: telling.stopped(
        r.task, "Enough.", actor=actor, clock=clock
    ),
    "short": lambda r, said, actor, clock: telling.budget_short(r, [SHORT], clock=clock),
    "skipped": lambda r, said, actor, clock: telling.windows_skipped(
        r, [WINDOW], "No ε is left.", clock=clock
    ),
}


@pytest.fixture
def eddi(person):
    return person("analyst", username="eddi")


@pytest.fixture
def rita(person):
    return person("reviewer", username="rita")


@pytest.fixture
def happens(submitted, eddi, rita, rafael, clock):
    """Ada's task, in which Eddi has written and on which Rita and Rafael have said something."""
    revision = submitted()
    services.save_draft(task=revision.task, text="# hi", base_version=1, actor=eddi, clock=clock)
    for somebody in (rita, rafael):
        said = services.comment(task=revision.task, text="Why?", actor=somebody, clock=clock)
    Delivery.objects.all().delete()
    Event.objects.all().delete()

    def tell(occasion):
        OCCASIONS[occasion](revision, said, rafael, clock)
        return set(Notification.objects.values_list("recipient__username", flat=True))

    return tell


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_it_works(happens, occasion):
    assert {"eddi", "rita"} <= happens(occasion)
    mailed = Delivery.objects.filter(channel="email")
    assert mailed.count() == Notification.objects.count()


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_who_has_lost_the_role_is_not_told(happens, ada, eddi, rita, occasion):
    """Eddi may still read releases, Rita nothing; Ada, whose task it is, has another role."""
    Grant.objects.filter(person__in=[ada, eddi, rita]).delete()
    Grant.objects.create(person=eddi, role=Role.CONSUMER)
    Grant.objects.create(person=ada, role=Role.OPERATOR)
    told = happens(occasion)
    assert not {"eddi", "rita"} & told
    assert Delivery.objects.filter(channel="email").count() == len(told)
    assert ("ada" in told) == (occasion != "submitted")


@pytest.mark.parametrize("occasion", OCCASIONS)
def test_who_is_deactivated_is_not_told(happens, eddi, occasion):
    Person.objects.filter(pk=eddi.pk).update(is_active=False)
    told = happens(occasion)
    assert "eddi" not in told
    assert "rita" in told


def test_an_author_who_has_lost_the_role_is_not_told_of_a_decision(happens, ada):
    Grant.objects.filter(person=ada).delete()
    assert happens("decided") == {"eddi", "rita"}


def test_a_person_with_two_roles_is_told_once(happens, eddi):
    Grant.objects.create(person=eddi, role=Role.REVIEWER)
    happens("stopped")
    assert Notification.objects.filter(recipient=eddi).count() == 1


def test_the_webhook_hears_of_it_where_nobody_is_left(happens, settings):
    settings.WEBHOOK_URL = "https://example.org/hook"
    Grant.objects.all().delete()
    assert happens("skipped") == set()
    assert Delivery.objects.get().channel == "webhook"
