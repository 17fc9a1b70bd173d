"""The review page: what a second person sees, and the one way to approve."""

import pytest
from django.test import Client

from portal.accounts.models import Grant, LoginFailure, Person
from portal.accounts.sign_in import NAME_LIMIT
from portal.accounts.tokens import create_token
from portal.audit.models import Entry
from portal.notifications.models import Notification
from portal.tasks import services
from portal.tasks.models import Comment, Revision, Task
from tests.portal.tasks.conftest import PASSWORD

pytestmark = pytest.mark.databases


@pytest.fixture
def as_rafael(signed_in, rafael):
    return signed_in(who=rafael)


def content(answer):
    return " ".join(answer.content.decode().split())


def decide(client, revision, decision="approve", **given):
    body = {"seen": revision.content_sha256, "password": PASSWORD, "comment": "", **given}
    return client.post(f"/review/{revision.pk}/decide", {**body, "decision": decision})


def test_it_works(submitted, as_rafael, ada):
    revision = submitted()
    assert revision.task.name in content(as_rafael.get("/review"))
    page = content(as_rafael.get(f"/review/{revision.pk}"))
    for words in ("Privacy impact", "Automatic checks", "On the ledger", "Forecast", "client_sql"):
        assert words in page
    assert revision.content_sha256 in page
    answer = decide(as_rafael, revision, comment="Good.")
    assert answer.headers["Location"] == f"/tasks/{revision.task.name}"
    assert Task.objects.get().state == "active"
    told = Notification.objects.get(recipient=ada, event__kind="revision.approved")
    assert told.event.link == f"/tasks/{revision.task.name}#comment-{Comment.objects.get().pk}"


def test_people_are_named_so_that_nobody_passes_for_another(
    submitted, as_rafael, ada, person, clock
):
    """Full names are chosen freely: an author may call herself like a reviewer."""
    person("reviewer", username="rosa")
    Person.objects.filter(username__in=["ada", "rosa"]).update(full_name="Rosa Marin")
    ada.refresh_from_db()
    revision = submitted()
    services.comment(task=revision.task, text="Fine.", revision=revision, actor=ada, clock=clock)
    for address in (f"/review/{revision.pk}", "/review", f"/tasks/{revision.task.name}", "/tasks"):
        page = content(as_rafael.get(address))
        assert 'Rosa Marin <span class="username">ada</span>' in page, address
        named = page.count("Rosa Marin") - page.count("Rosa Marin (ada)")
        assert named == page.count('Rosa Marin <span class="username">'), address
    told = Notification.objects.filter(recipient__username="rafael").last()
    assert told.event.body.startswith("Rosa Marin (ada) submitted")


def test_a_wrong_password_approves_nothing_and_keeps_the_comment(submitted, as_rafael):
    revision = submitted()
    answer = decide(as_rafael, revision, password="wrong", comment="Fine with me.")
    assert answer.status_code == 400
    assert "This is not your password." in content(answer)
    assert "Fine with me." in content(answer)
    assert 'value="wrong"' not in content(answer)
    assert Revision.objects.get().state == "in_review"


def test_an_empty_password_is_asked_for_and_is_no_guess(submitted, as_rafael):
    revision = submitted()
    for _ in range(2 * NAME_LIMIT):
        answer = decide(as_rafael, revision, password="")
        assert answer.status_code == 400
        assert "Type your password." in content(answer)
    assert not LoginFailure.objects.exists()
    assert not Entry.objects.filter(action="sign_in.refused").exists()
    assert Revision.objects.get().state == "in_review"


def test_a_stale_page_is_told_what_changed(submitted, revise, as_rafael):
    first = submitted()
    revise(first.task, epsilon=2)
    answer = decide(as_rafael, first)
    assert answer.status_code == 409
    assert not Revision.objects.filter(state="approved").exists()


@pytest.mark.parametrize("decision", ["changes", "reject"])
def test_turning_down_needs_a_reason_and_no_password(submitted, as_rafael, decision):
    revision = submitted()
    assert decide(as_rafael, revision, decision, password="").status_code == 400
    decide(as_rafael, revision, decision, password="", comment="Which filter is this?")
    assert Revision.objects.get().state in ("changes_requested", "rejected")


@pytest.mark.parametrize("decision", ["", "Approve", "approved", "nonsense"])
def test_another_word_is_no_decision(submitted, as_rafael, decision):
    assert decide(as_rafael, submitted(), decision).status_code == 400
    assert Revision.objects.get().state == "in_review"


@pytest.mark.parametrize("roles", [("analyst",), ("operator",), ("consumer",), ()])
def test_only_reviewers_decide(submitted, signed_in, roles):
    revision = submitted()
    assert decide(signed_in(*roles), revision).status_code == 403
    assert Revision.objects.get().state == "in_review"


def test_the_author_sees_why_not(submitted, signed_in, ada):
    Grant.objects.create(person=ada, role="reviewer")
    revision, client = submitted(), signed_in(who=ada)
    page = content(client.get(f"/review/{revision.pk}"))
    assert "Somebody else must decide on it." in page
    assert "Your password" not in page
    assert decide(client, revision).status_code == 403


def test_a_token_opens_no_page(submitted, rafael, clock):
    made = create_token(
        owner=rafael, name="t", scopes=("read", "author"), lifetime_days=30, clock=clock
    )
    revision = submitted()
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    assert decide(client, revision).status_code == 302
    assert Revision.objects.get().state == "in_review"


def test_a_form_from_another_site_is_refused(submitted, rafael):
    revision = submitted()
    client = Client(enforce_csrf_checks=True)
    client.force_login(rafael)
    assert decide(client, revision).status_code == 403
    assert Revision.objects.get().state == "in_review"


def test_nothing_is_decided_by_a_get(submitted, as_rafael):
    """Where the page of a refused decision is loaded again."""
    revision = submitted()
    fields = {"seen": revision.content_sha256, "decision": "approve", "password": PASSWORD}
    answer = as_rafael.get(f"/review/{revision.pk}/decide", fields)
    assert answer["Location"] == f"/review/{revision.pk}"
    assert Revision.objects.get().state == "in_review"


def test_the_page_shows_what_changed(active, revise, as_rafael, ada, clock):
    task = active()
    second = revise(task, epsilon=2, clip=30)
    answer = as_rafael.get(f"/review/{second.pk}")
    assert {change.path for change in answer.context["changed"]} == {
        "anonymization.epsilon",
        "anonymization.mechanism.clip",
    }
    weaker = [fact.name for fact in answer.context["facts"] if fact.weaker]
    assert weaker == ["ε per window", "ε per week, at most"]
    # The windows to come are charged anew, not twice.
    assert {(e.taken, e.wanted) for e in answer.context["effects"]} == {(0, 200)}


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ("changes", "revision 1, for which changes were asked."),
        ("reject", "revision 1, which was rejected."),
        ("", "revision 1, which was withdrawn."),  # the next one replaces it
    ],
)
def test_without_an_approved_revision_it_is_compared_with_the_one_before(
    submitted, revise, as_rafael, decision, words
):
    first = submitted()
    decide(as_rafael, first, decision, comment="No.")
    second = revise(first.task, epsilon="0.5")
    answer = as_rafael.get(f"/review/{second.pk}")
    assert f"Compared with {words}" in content(answer)
    [changed] = answer.context["changed"]
    assert (changed.path, changed.before, changed.after) == ("anonymization.epsilon", "1", "0.5")


def test_what_was_approved_is_what_counts(active, revise, as_rafael):
    """However many revisions were turned down since, people live with the approved one."""
    task = active()
    decide(as_rafael, revise(task, epsilon=2), "reject", comment="No.")
    third = revise(task, epsilon=3)
    answer = as_rafael.get(f"/review/{third.pk}")
    assert "Compared with revision 1, which was approved before." in content(answer)
    assert [change.before for change in answer.context["changed"]] == ["1"]


def test_a_first_revision_is_compared_with_nothing(submitted, as_rafael):
    assert "Compared with" not in content(as_rafael.get(f"/review/{submitted().pk}"))


def test_the_description_is_there_to_read_as_plain_text(drafted, ada, as_rafael, clock):
    task = drafted()
    text = task.draft.text.replace("Trips by activity", "Who <b>cycles</b>")
    services.save_draft(task=task, text=text, base_version=1, actor=ada, clock=clock)
    revision = services.submit(task=task, version=2, actor=ada, clock=clock)
    page = content(as_rafael.get(f"/review/{revision.pk}"))
    assert "<dd>Who &lt;b&gt;cycles&lt;/b&gt;</dd>" in page


def test_another_condition_for_taking_part_is_a_change(active, revise, as_rafael, clock, ada):
    """It is a query, but none of those that stand side by side."""
    task = active()
    condition = "eligibility: {sql: SELECT install_age_days > 30 FROM device_facts}\n"
    text = task.draft.text + condition
    services.save_draft(task=task, text=text, base_version=1, actor=ada, clock=clock)
    second = services.submit(task=task, version=2, actor=ada, clock=clock)
    answer = as_rafael.get(f"/review/{second.pk}")
    [changed] = answer.context["changed"]
    assert (changed.path, changed.before) == ("eligibility.sql", None)
    assert "install_age_days &gt; 30 FROM device_facts</td>" in content(answer)
    assert "No parameter differs." not in content(answer)


def test_a_first_revision_has_every_parameter_there_to_read(submitted, as_rafael):
    """What is approved is signed with all of it, such as the numbers of its mechanism."""
    revision = submitted(clip=17)
    page = content(as_rafael.get(f"/review/{revision.pk}"))
    assert "Every other parameter" in page
    assert '<th scope="row" class="mono">anonymization.<wbr>mechanism.<wbr>clip' in page
    assert "</th><td>17.0</td>" in page
    assert '<th scope="row" class="mono">client_sql' not in page


def test_words_that_changed_are_marked(active, ada, as_rafael, clock):
    task = active()
    text = task.draft.text.replace("COUNT(*) AS n", "COUNT(*) * 2 AS n")
    services.save_draft(task=task, text=text, base_version=1, actor=ada, clock=clock)
    second = services.submit(task=task, version=2, actor=ada, clock=clock)
    rows = as_rafael.get(f"/review/{second.pk}").context["queries"]["client_sql"]
    assert [row.changed for row in rows] == [True, False]
    added = [p.text for p in rows[0].after.pieces if p.changed]
    assert "".join(added).strip() == "* 2"


def test_a_line_of_the_sql_is_commented_on(submitted, as_rafael, ada):
    revision = submitted()
    page = as_rafael.get(f"/review/{revision.pk}?part=client_sql&line=2")
    assert "On line 2 of" in content(page)
    body = {
        "text": "All activities?", "revision": revision.pk, "part": "client_sql", "line": 2,
        "page": "review",
    }  # fmt: skip
    answer = as_rafael.post(f"/tasks/{revision.task.name}/comments", body)
    said = Comment.objects.get()
    place = f"/review/{revision.pk}#comment-{said.pk}"
    assert answer.headers["Location"] == place
    rows = as_rafael.get(f"/review/{revision.pk}").context["queries"]["client_sql"]
    assert [row.threads for row in rows] == [[], [said]]
    assert (
        Notification.objects.get(recipient=ada, event__kind="comment.written").event.link == place
    )


@pytest.mark.parametrize("place", [("client_sql", 99), ("nonsense", 1), ("", 3)])
def test_a_line_that_is_not_there_is_not_commented_on(submitted, as_rafael, place):
    revision = submitted()
    body = {"text": "Hm.", "revision": revision.pk, "part": place[0], "line": place[1]}
    answer = as_rafael.post(f"/tasks/{revision.task.name}/comments", body, follow=True)
    assert "There is no line" in content(answer)
    assert not Comment.objects.exists()


def test_a_revision_of_another_task_is_not_commented_on_here(submitted, as_rafael):
    first, other = submitted(), submitted("other")
    body = {"text": "Hm.", "revision": other.pk}
    answer = as_rafael.post(f"/tasks/{first.task.name}/comments", body)
    assert answer.status_code == 403


def test_a_task_that_does_not_fit_says_so_before_the_decision(submitted, active, as_rafael):
    active(epsilon=3)
    revision = submitted("other", epsilon=2)
    page = content(as_rafael.get(f"/review/{revision.pk}"))
    assert "It does not fit the ledger" in page
    answer = decide(as_rafael, revision)
    assert answer.status_code == 409
    assert "is left" in content(answer)


def test_a_decided_revision_can_still_be_read(submitted, approve, as_rafael):
    revision = approve(submitted())
    page = content(as_rafael.get(f"/review/{revision.pk}"))
    assert "This revision is decided: approved" in page
    assert revision.signature in page


def test_what_was_said_before_is_there_to_read(submitted, revise, as_rafael, rafael, clock):
    """A thread that is open on an earlier revision still counts."""
    first = submitted()
    services.comment(
        task=first.task, text="Why all of them?", revision=first, part="client_sql", line=2,
        actor=rafael, clock=clock,
    )  # fmt: skip
    services.comment(task=first.task, text="A word on the task.", actor=rafael, clock=clock)
    second = revise(first.task, clip=30)
    page = content(as_rafael.get(f"/review/{second.pk}"))
    assert "Why all of them?" in page
    assert f'href="/review/{first.pk}#client_sql-2"' in page
    assert "client_sql, line 2, revision 1" in page
    assert "A word on the task." in page
    assert "2 threads are open" in page
