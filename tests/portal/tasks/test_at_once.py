"""Several people at the same moment, with real transactions, on both databases."""

import threading

import pytest

from aggregation.errors import Problem
from portal.accounts.models import Grant, Person
from portal.audit.verification import verify_log
from portal.ledger.models import Week
from portal.tasks import services
from portal.tasks.models import Draft, Revision, Task
from portal.tasks.populations import add_population
from tests.portal.tasks.conftest import PASSWORD, spec_text

pytestmark = pytest.mark.databases


def someone(username, *roles):
    person = Person.objects.create_user(username, password=PASSWORD)
    Grant.objects.bulk_create(Grant(person=person, role=role) for role in roles)
    return person


def at_once(own_database, attempts):
    """Run each in a thread; give what each came to: its value, or its problem's class."""
    outcomes = [None] * len(attempts)

    def run(number):
        with own_database():
            try:
                outcomes[number] = attempts[number]()
            except Problem as problem:
                outcomes[number] = type(problem).__name__

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(attempts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def submitted(ada, clock, name):
    task = services.create_task(name=name, text=spec_text(name), actor=ada, clock=clock)
    return services.submit(task=task, version=1, actor=ada, clock=clock)


def approve(revision, reviewer, clock):
    return services.approve(
        revision=revision, seen=revision.content_sha256, password=PASSWORD, comment="",
        actor=reviewer, clock=clock,
    ).state  # fmt: skip


def test_a_name_is_taken_once_however_often_it_is_clicked(own_database, streams, clock):
    ada = someone("ada", "analyst")
    original = services.create_task(name="one", text=spec_text("one"), actor=ada, clock=clock)
    given = {"name": "task", "actor": ada, "clock": clock}
    made = [lambda: services.create_task(text="", **given).name] * 4
    copied = [lambda: services.duplicate_task(task=original, **given).name] * 2
    outcomes = at_once(own_database, [*made, *copied])
    assert sorted(outcomes) == ["Conflict"] * 5 + ["task"]
    assert Task.objects.filter(name="task").count() == 1
    omar = someone("omar", "operator")
    add = [lambda: add_population(name="DE", actor=omar, clock=clock).name] * 3
    assert sorted(at_once(own_database, add)) == ["Conflict"] * 2 + ["DE"]


def test_sixteen_activations_let_through_exactly_the_cap(own_database, streams, clock):
    ada = someone("ada", "analyst")
    revisions = [submitted(ada, clock, f"task-{number}") for number in range(16)]
    reviewers = [someone(f"reviewer-{number}", "reviewer") for number in range(16)]
    pairs = zip(revisions, reviewers, strict=True)
    outcomes = at_once(
        own_database, [lambda r=r, who=who: approve(r, who, clock) for r, who in pairs]
    )
    assert sorted(outcomes) == ["NotEnough"] * 12 + ["approved"] * 4
    assert Task.objects.filter(state="active").count() == 4
    assert Revision.objects.filter(state="in_review").count() == 12
    assert all(week.reserved == week.cap == 400 for week in Week.objects.all())
    assert verify_log(whole=True).problem == ""


def test_one_of_several_approvals_of_a_revision_wins(own_database, streams, clock):
    ada = someone("ada", "analyst")
    revision = submitted(ada, clock, "task")
    reviewers = [someone(f"reviewer-{number}", "reviewer") for number in range(6)]
    attempts = [lambda who=who: approve(revision, who, clock) for who in reviewers]
    outcomes = at_once(own_database, attempts)
    assert sorted(outcomes) == ["Conflict"] * 5 + ["approved"]
    assert set(Week.objects.values_list("reserved", flat=True)) == {100}


def test_an_edit_during_approval_is_before_or_after_it(own_database, streams, clock):
    """Whichever comes first, what runs is what the reviewer saw, or nothing does."""
    ada, rafael = someone("ada", "analyst"), someone("rafael", "reviewer")
    revision = submitted(ada, clock, "task")

    def resubmit():
        text = spec_text("task", epsilon=2)
        saved = services.save_draft(
            task=revision.task, text=text, base_version=1, actor=ada, clock=clock
        )
        return services.submit(
            task=revision.task, version=saved.version, actor=ada, clock=clock
        ).state

    outcomes = at_once(own_database, [lambda: approve(revision, rafael, clock), resubmit])
    approved = Revision.objects.filter(state="approved")
    if outcomes[0] == "approved":
        assert approved.get().content_sha256 == revision.content_sha256
    else:
        assert outcomes[0] == "Conflict"
        assert not approved.exists()
    assert outcomes[1] == "in_review"


def test_of_two_saves_on_one_version_one_is_stale(own_database, streams, clock):
    people = [someone(f"analyst-{number}", "analyst") for number in range(4)]
    task = services.create_task(name="task", text="first", actor=people[0], clock=clock)

    def save(who):
        return type(
            services.save_draft(task=task, text=f"by {who}", base_version=1, actor=who, clock=clock)
        ).__name__

    outcomes = at_once(own_database, [lambda who=who: save(who) for who in people])
    assert sorted(outcomes) == ["Saved", "Stale", "Stale", "Stale"]
    assert Draft.objects.get().version == 2


def test_approving_and_ending_do_not_wait_for_each_other_in_a_circle(own_database, streams, clock):
    ada, rafael = someone("ada", "analyst"), someone("rafael", "reviewer")
    first, second = (submitted(ada, clock, f"task-{number}") for number in range(2))
    approve(first, rafael, clock)
    attempts = [
        lambda: approve(second, rafael, clock),
        lambda: services.end(task=first.task, reason="", actor=ada, clock=clock).state,
    ]
    assert at_once(own_database, attempts) == ["approved", "ended"]
