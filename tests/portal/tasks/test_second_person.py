"""Ways around the second person through the services, each of them refused, on both databases."""

import pytest
from django.core.exceptions import PermissionDenied

from aggregation.errors import Problem
from aggregation.protocol.shipped import shipped_catalog
from portal.accounts.models import Grant, Person
from portal.accounts.services import change_password
from portal.accounts.sign_in import TooManyFailures
from portal.problems import Conflict
from portal.tasks import services
from portal.tasks.models import Revision, Task
from tests.portal.tasks.conftest import PASSWORD, spec_text

pytestmark = pytest.mark.databases


@pytest.mark.parametrize("roles", [(), ("analyst",), ("consumer",), ("operator",)])
def test_only_reviewers_approve(submitted, approve, person, roles):
    with pytest.raises(PermissionDenied, match="reviewer"):
        approve(submitted(), by=person(*roles))


def test_who_was_signed_in_with_another_password_does_not_approve(
    submitted, approve, rafael, clock
):
    """The request began before the password changed, and holds the new one by its end."""
    revision, before = submitted(), Person.objects.get(pk=rafael.pk)
    new = "four quite random words"
    change_password(person=rafael, password=new, clock=clock)
    with pytest.raises(Conflict, match="changed just now"):
        approve(revision, by=before, password=new)
    assert Revision.objects.get().state == "in_review"
    assert approve(revision, password=new).state == "approved"


def test_the_author_does_not_approve(submitted, approve, ada):
    Grant.objects.create(person=ada, role="reviewer")
    with pytest.raises(PermissionDenied, match="submitted"):
        approve(submitted(), by=ada)


def test_an_editor_does_not_approve(drafted, revise, approve, person, clock):
    both = person("analyst", "reviewer")
    task = drafted()
    services.save_draft(task=task, text="# hello", base_version=1, actor=both, clock=clock)
    with pytest.raises(PermissionDenied, match="written in this task"):
        approve(revise(task), by=both)


def test_an_editor_of_an_earlier_revision_does_not_approve(active, revise, approve, person):
    both = person("analyst", "reviewer")
    task = active()
    revise(task, by=both, clip=10)
    with pytest.raises(PermissionDenied, match="written in this task"):
        approve(revise(task, clip=11), by=both)


def test_the_maker_of_a_task_does_not_approve_what_another_submits(
    drafted, revise, approve, person
):
    maker, other = person("analyst", "reviewer"), person("analyst")
    task = drafted(by=maker)
    with pytest.raises(PermissionDenied, match="written in this task"):
        approve(revise(task, by=other, clip=10), by=maker)


def test_who_wrote_a_task_does_not_approve_a_copy_of_it(drafted, revise, approve, person, clock):
    """Nor a copy of the copy, whoever makes it and submits it."""
    maker, editor, copier = (person("analyst", "reviewer") for _ in range(3))
    task = drafted(by=maker)
    services.save_draft(task=task, text="# hello", base_version=1, actor=editor, clock=clock)
    for name in ("copy", "copy-of-the-copy"):
        task = services.duplicate_task(task=task, name=name, actor=copier, clock=clock)
        revision = revise(task)
        for who in (maker, editor):
            with pytest.raises(PermissionDenied, match="written in this task"):
                approve(revision, by=who)
    assert approve(revision).state == Revision.State.APPROVED


def test_who_asks_to_resume_does_not_approve_it(active, approve, person, clock):
    both = person("analyst", "reviewer")
    task = active()
    services.pause(task=task, reason="", actor=both, clock=clock)
    revision = services.resume_request(task=task, actor=both, clock=clock)
    with pytest.raises(PermissionDenied, match="submitted"):
        approve(revision, by=both)


def test_the_author_does_not_approve_another_s_request_to_resume(
    active, approve, ada, person, clock
):
    task = active()
    services.pause(task=task, reason="", actor=ada, clock=clock)
    revision = services.resume_request(task=task, actor=person("analyst"), clock=clock)
    Grant.objects.create(person=ada, role="reviewer")
    with pytest.raises(PermissionDenied, match="written in this task"):
        approve(revision, by=ada)


def test_a_withdrawn_role_counts_at_once(submitted, approve, rafael):
    assert rafael.has_role("reviewer")
    Grant.objects.filter(person=rafael).delete()
    with pytest.raises(PermissionDenied):
        approve(submitted())


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD.upper(), PASSWORD + " "])
def test_the_password_is_asked_again(submitted, approve, password):
    with pytest.raises(Problem, match="password"):
        approve(submitted(), password=password)
    assert Task.objects.get().state == "draft"


def test_a_password_that_another_chose_approves_nothing(submitted, approve, rafael):
    rafael.must_change_password = True
    rafael.save()
    with pytest.raises(Problem, match="password"):
        approve(submitted())


def test_passwords_cannot_be_guessed_here(submitted, approve):
    revision = submitted()
    for _ in range(5):
        with pytest.raises(Problem):
            approve(revision, password="wrong")
    with pytest.raises(TooManyFailures):
        approve(revision)


@pytest.mark.parametrize("seen", ["", "0" * 64, "spec"])
def test_what_was_not_seen_is_not_approved(submitted, approve, seen):
    revision = submitted()
    seen = revision.spec_sha256 if seen == "spec" else seen
    with pytest.raises(Conflict, match="The content you saw"):
        approve(revision, seen=seen)


def test_a_stale_page_says_what_changed(submitted, revise, approve):
    first = submitted()
    revise(first.task, epsilon="2.5", clip=30)
    with pytest.raises(Conflict, match=r"Revision 2 .*epsilon from 1 to 2.5"):
        approve(first)
    assert not Revision.objects.filter(state="approved").exists()


def test_the_older_of_two_versions_is_not_approved_with_the_newer_s_hash(
    submitted, revise, approve
):
    first = submitted()
    second = revise(first.task, clip=30)
    with pytest.raises(Conflict, match="replaced"):
        approve(first, seen=second.content_sha256)


@pytest.mark.parametrize("state", ["rejected", "withdrawn", "approved", "ended"])
def test_a_decided_revision_is_not_approved(submitted, approve, state, clock):
    revision = submitted()
    decisions = {
        "rejected": lambda: services.reject(
            revision=revision, seen=revision.content_sha256, comment="No.", clock=clock,
            actor=Person.objects.get(username="rafael"),
        ),
        "withdrawn": lambda: services.withdraw(
            revision=revision, actor=revision.author, clock=clock
        ),
        "approved": lambda: approve(revision),
        "ended": lambda: services.end(
            task=revision.task, reason="", actor=revision.author, clock=clock
        ),
    }  # fmt: skip
    decisions[state]()
    with pytest.raises(Conflict):
        approve(revision)


def test_an_edit_during_review_changes_nothing_that_is_reviewed(submitted, approve, ada, clock):
    revision = submitted()
    other = spec_text(epsilon=4)
    services.save_draft(task=revision.task, text=other, base_version=1, actor=ada, clock=clock)
    assert '"epsilon":"1"' in approve(revision).server_config_json


def test_a_stream_that_changed_since_submission_is_not_approved(
    submitted, approve, settings, tmp_path
):
    revision = submitted()
    shipped_catalog(regions=["1", "2"], countries=["DE"]).write(tmp_path / "streams")
    settings.DATA = tmp_path
    with pytest.raises(Conflict, match="compiles differently"):
        approve(revision)


@pytest.mark.parametrize("decide", [services.reject, services.ask_for_changes])
def test_nobody_decides_on_their_own(submitted, ada, clock, decide):
    Grant.objects.create(person=ada, role="reviewer")
    revision = submitted()
    with pytest.raises(PermissionDenied):
        decide(revision=revision, seen=revision.content_sha256, comment="x", actor=ada, clock=clock)
