"""The task list and a task's page, and what people do there."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from portal.tasks import services
from portal.tasks.models import Comment, Revision, Task


@pytest.fixture
def as_ada(signed_in, ada):
    return signed_in(who=ada)


def content(answer):
    return " ".join(answer.content.decode().split())


def test_it_works(active, as_ada):
    task = active()
    page = content(as_ada.get(f"/tasks/{task.name}"))
    assert "<h1>trips-by-activity" in page
    assert "Trips by activity" in page
    assert "Each phone of every population will run one query per complete week" in page
    assert "2026-W48" in page
    assert "approved revision 1" in page
    assert "SELECT activity, privacy_time_unit, COUNT(*) AS n" in page


def test_the_list_is_filtered_by_its_address(active, submitted, drafted, as_ada):
    active()
    submitted("waits")
    drafted("idea", stream="assistant")

    def names(query):
        found = as_ada.get(f"/tasks{query}").context["page"].object_list
        return [task.name for task in found]

    assert names("") == ["idea", "trips-by-activity", "waits"]
    assert names("?view=active") == ["trips-by-activity"]
    assert names("?view=review") == ["waits"]
    assert names("?text=IDEA") == ["idea"]
    assert names("?stream=trips") == ["trips-by-activity", "waits"]
    assert names("?stream=assistant") == []
    assert names("?view=nonsense&stream=none") == ["idea", "trips-by-activity", "waits"]


def test_each_part_of_the_list_says_how_many_it_has(active, submitted, drafted, as_ada):
    active()
    submitted("waits")
    drafted("idea", stream="assistant")

    def counts(query=""):
        return {label: count for _, label, count in as_ada.get(f"/tasks{query}").context["tabs"]}

    everything = {"All": 3, "Mine": 3, "Awaiting review": 1, "Active": 1, "Ended": 0}
    assert counts() == counts("?view=ended") == everything
    assert counts("?text=idea") == {**dict.fromkeys(everything, 0), "All": 1, "Mine": 1}
    assert counts("?stream=trips")["All"] == 2


def test_mine_are_those_one_has_written_in(drafted, signed_in, person, clock):
    bob = person("analyst")
    first, _ = drafted(), drafted("other")
    services.save_draft(task=first, text="x", base_version=1, actor=bob, clock=clock)
    found = signed_in(who=bob).get("/tasks?view=mine").context["page"].object_list
    assert [task.name for task in found] == [first.name]


def test_the_list_asks_the_database_the_same_for_many_tasks(
    drafted, as_ada, django_assert_max_num_queries
):
    for number in range(12):
        drafted(f"task-{number}")
    with django_assert_max_num_queries(12):
        as_ada.get("/tasks")


@pytest.mark.parametrize("path", ["/tasks", "/tasks/trips-by-activity", "/review", "/ledger"])
def test_pages_are_for_those_who_work_with_tasks(submitted, signed_in, path):
    submitted()
    assert signed_in("consumer").get(path).status_code == 403
    assert signed_in("operator").get(path).status_code == 200
    assert Client().get(path).status_code == 302


def test_a_task_that_is_not_there_is_not_found(as_ada, streams):
    assert as_ada.get("/tasks/none").status_code == 404


def test_pausing_resuming_and_ending_on_the_page(active, as_ada):
    task = active()
    address = f"/tasks/{task.name}"
    as_ada.post(f"{address}/pause", {"reason": "Odd numbers."})
    assert Task.objects.get().state == "paused"
    assert "Ask to resume" in content(as_ada.get(address))
    as_ada.post(f"{address}/resume")
    assert Revision.objects.filter(resumes=True, state="in_review").exists()
    as_ada.post(f"{address}/withdraw")
    assert not Revision.objects.filter(state="in_review").exists()
    as_ada.post(f"{address}/end")
    assert Task.objects.get().state == "ended"
    assert "has ended" in content(as_ada.post(f"{address}/end", follow=True))


def test_what_is_taken_back_is_what_the_page_showed(submitted, revise, as_ada):
    """Not a newer revision, which somebody else may have submitted since."""
    first = submitted()
    address = f"/tasks/{first.task.name}"
    older = '<input type="hidden" name="revision" value="1">'
    assert older in content(as_ada.get(address))
    revise(first.task, epsilon=2)
    page = content(as_ada.post(f"{address}/withdraw", {"revision": "1"}, follow=True))
    assert "Revision 2 is in review by now." in page
    assert Revision.objects.get(number=2).state == "in_review"
    as_ada.post(f"{address}/withdraw", {"revision": "2"})
    assert Revision.objects.get(number=2).state == "withdrawn"


def test_what_is_refused_is_said_on_the_page(drafted, as_ada):
    page = content(as_ada.post(f"/tasks/{drafted().name}/pause", follow=True))
    assert "is draft, not active" in page


def test_duplicating_leads_to_the_new_draft(drafted, as_ada):
    answer = as_ada.post(f"/tasks/{drafted().name}/duplicate", {"name": "copy"})
    assert answer.headers["Location"] == "/tasks/copy/edit"
    taken = as_ada.post("/tasks/copy/duplicate", {"name": "copy"}, follow=True)
    assert "There is a task copy already." in content(taken)


def test_comments_are_shown_as_they_were_typed(active, as_ada):
    task = active()
    said = "<script>alert(1)</script> & more"
    answer = as_ada.post(f"/tasks/{task.name}/comments", {"text": said}, follow=True)
    assert "&lt;script&gt;alert(1)" in content(answer)
    comment = Comment.objects.get()
    assert answer.redirect_chain[-1][0] == f"/tasks/{task.name}#comment-{comment.pk}"
    as_ada.post(f"/tasks/{task.name}/comments", {"text": "So?", "thread": comment.pk})
    as_ada.post(f"/tasks/{task.name}/comments/{comment.pk}/resolve")
    assert "Resolved by ada" in content(as_ada.get(f"/tasks/{task.name}"))
    as_ada.post(f"/tasks/{task.name}/comments/{comment.pk}/unresolve")
    assert Comment.objects.get(pk=comment.pk).resolved_at is None


def test_nothing_changes_on_a_get(active, as_ada):
    name = active().name
    for step in ("pause", "end", "resume", "withdraw", "duplicate", "comments"):
        assert as_ada.get(f"/tasks/{name}/{step}").status_code == 405


@pytest.mark.parametrize("step", ["resume", "withdraw", "duplicate"])
def test_writing_is_for_analysts(active, signed_in, step):
    name = active().name
    assert signed_in("reviewer").post(f"/tasks/{name}/{step}", {"name": "x"}).status_code == 403


@pytest.mark.parametrize("decide", [services.ask_for_changes, services.reject])
def test_who_turned_it_down_is_named_with_the_way_on(submitted, as_ada, rafael, clock, decide):
    revision, words = submitted(), {services.reject: "rejected"}.get(decide, "asked for changes to")
    decide(
        revision=revision, seen=revision.content_sha256, comment="No.", actor=rafael, clock=clock
    )
    page = content(as_ada.get(f"/tasks/{revision.task.name}"))
    assert f"rafael {words} revision 1. " in page
    assert f'href="/tasks/{revision.task.name}/edit">change it</a>' in page


def test_the_timeline_shows_both_revisions(active, revise, approve, as_ada, clock):
    task = active()
    clock.set(datetime(2026, 11, 24, tzinfo=UTC))
    approve(revise(task, clip=30))
    page = as_ada.get(f"/tasks/{task.name}")
    drawn = page.context["timeline"]
    assert [takeover.label for takeover in drawn.takeovers] == ["r1", "r2"]
    assert len(drawn.on_devices) == len(drawn.on_server) == 5
    ends = [strip.x + strip.width for strip in drawn.on_server]
    assert ends == sorted(ends)
    assert max(ends) <= drawn.width


def test_a_draft_alone_says_what_comes_next(drafted, as_ada):
    assert "Only a draft so far" in content(as_ada.get(f"/tasks/{drafted().name}"))


def test_the_home_page_says_what_waits(submitted, signed_in, ada, rafael, clock):
    revision = submitted()
    reviewer, author = signed_in(who=rafael), signed_in(who=ada)
    assert "1 task awaits your review" in content(reviewer.get("/"))
    assert "awaits your review" not in content(author.get("/"))
    seen = revision.content_sha256
    services.ask_for_changes(
        revision=revision, seen=seen, comment="Lower ε.", actor=rafael, clock=clock
    )
    assert "Changes are asked for in trips-by-activity" in content(author.get("/"))
    assert "awaits your review" not in content(reviewer.get("/"))
