"""Tasks through the API: everything an analyst can do, and nothing that a second person must."""

import json

import pytest
from django.test import Client
from django.urls import URLPattern

from portal.accounts.models import Grant
from portal.accounts.tokens import create_token
from portal.tasks.models import Comment, Draft, Revision, Task
from portal.tasks.urls import api_urlpatterns
from tests.portal.tasks.conftest import spec_text

ALL_SCOPES = ("read", "author", "operate")


@pytest.fixture
def program(clock):
    """A program of a person, with a token: `program(ada)("post", "tasks", {...})`."""

    def of(owner, *scopes):
        made = create_token(
            owner=owner, name=f"t{owner.tokens.count()}", scopes=scopes or ALL_SCOPES,
            lifetime_days=30, clock=clock,
        )  # fmt: skip
        headers = {"Authorization": f"Bearer {made.secret}"}

        def call(method, path, body=None):
            send = getattr(Client(), method)
            if method == "get":
                return send(f"/api/v1/{path}", headers=headers)
            data = json.dumps(body or {})
            return send(f"/api/v1/{path}", data, content_type="application/json", headers=headers)

        return call

    return of


def test_it_works(streams, program, ada):
    """From an idea to review, and back."""
    call = program(ada)
    made = call("post", "tasks", {"name": "trips-by-activity", "text": "name: trips"})
    assert (made.status_code, made.json()["version"]) == (201, 1)
    saved = call("put", "tasks/trips-by-activity/draft", {"text": spec_text(), "base_version": 1})
    assert (saved.status_code, saved.json()["version"]) == (200, 2)
    sent = call("post", "tasks/trips-by-activity/submit", {"version": 2})
    assert (sent.status_code, sent.json()["state"], sent.json()["epsilon"]) == (
        201, "in_review", "1",
    )  # fmt: skip
    listed = call("get", "tasks?view=review").json()["results"]
    assert [(t["name"], t["newest_state"]) for t in listed] == [("trips-by-activity", "in_review")]
    whole = call("get", "tasks/trips-by-activity/revisions/1").json()
    assert whole["client_task"]["metrics"] == ["n"]
    assert "Each phone" in whole["explain"]
    assert call("post", "tasks/trips-by-activity/withdraw").json()["state"] == "withdrawn"


def test_a_running_task_is_paused_resumed_and_ended(active, program, ada):
    task, call = active(), program(ada)
    windows = call("get", f"tasks/{task.name}/windows").json()["results"]
    assert windows[0]["window"] == "2026-11-23"
    ledger = call("get", "ledger?stream=trips&first=2026-11-23&weeks=1").json()
    assert ledger == [
        {
            "stream": "trips", "week": "2026-W48", "monday": "2026-11-23", "cap": "4",
            "reserved": "1", "spent": "0", "left": "3",
            "tasks": [{"task": task.name, "windows": 1, "reserved": "1", "spent": "0"}],
        }
    ]  # fmt: skip
    assert call("post", f"tasks/{task.name}/pause", {"reason": "Odd."}).json()["state"] == "paused"
    asked = call("post", f"tasks/{task.name}/resume")
    assert (asked.status_code, asked.json()["state"]) == (201, "in_review")
    assert Task.objects.get().state == "paused"
    assert call("post", f"tasks/{task.name}/end").json()["state"] == "ended"


def test_comments_are_written_answered_and_resolved(submitted, program, rafael, ada):
    revision = submitted()
    path = f"tasks/{revision.task.name}/comments"
    where = {"revision": 1, "part": "client_sql", "line": 2}
    said = program(rafael)("post", path, {"text": "Why no filter?", **where}).json()
    assert (said["part"], said["line"], said["revision"]) == ("client_sql", 2, 1)
    program(ada)("post", path, {"text": "None is needed.", "thread": said["id"]})
    resolved = program(ada)("post", f"{path}/{said['id']}/resolve").json()
    assert resolved["resolved_by"] == "ada"
    reopened = program(rafael)("post", f"{path}/{said['id']}/unresolve").json()
    assert reopened["resolved_at"] is None
    listed = program(ada)("get", path).json()
    assert [(c["text"], c["thread"]) for c in listed] == [
        ("Why no filter?", None),
        ("None is needed.", said["id"]),
    ]


def test_duplicating_answers_with_the_new_draft(active, program, ada):
    answer = program(ada)("post", f"tasks/{active().name}/duplicate", {"name": "copy"})
    assert answer.status_code == 201
    assert answer.json()["text"] == spec_text("copy")


def test_a_copy_s_name_may_be_refused(drafted, program, ada):
    answer = program(ada)("post", f"tasks/{drafted().name}/duplicate", {"name": r"a\q"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "problem")


def test_a_stale_save_overwrites_nothing(drafted, program, ada):
    call, task = program(ada), drafted()
    path = f"tasks/{task.name}/draft"
    call("put", path, {"text": "theirs", "base_version": 1})
    answer = call("put", path, {"text": "mine", "base_version": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert Draft.objects.get().text == "theirs"


def test_a_refused_spec_is_not_submitted(drafted, program, ada):
    call, task = program(ada), drafted(epsilon=9)
    answer = call("post", f"tasks/{task.name}/submit", {"version": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "problem")
    assert "epsilon" in answer.json()["error"]["message"]


WRITES = [
    ("post", "tasks", {"name": "new", "text": ""}),
    ("put", "tasks/{}/draft", {"text": "x", "base_version": 1}),
    ("post", "tasks/{}/submit", {"version": 1}),
    ("post", "tasks/{}/withdraw", {}),
    ("post", "tasks/{}/resume", {}),
    ("post", "tasks/{}/duplicate", {"name": "copy"}),
]
STOPS = [
    ("post", "tasks/{}/pause", {}),
    ("post", "tasks/{}/end", {}),
    ("post", "tasks/{}/comments", {"text": "Hm."}),
]


@pytest.mark.parametrize("roles", [(), ("consumer",), ("reviewer",), ("operator",)])
@pytest.mark.parametrize("asked", WRITES)
def test_writing_is_for_analysts(submitted, program, person, roles, asked):
    name, (method, path, body) = submitted().task.name, asked
    answer = program(person(*roles))(method, path.format(name), body)
    assert answer.status_code == 403
    assert Task.objects.count() == 1
    assert Draft.objects.get().version == 1


@pytest.mark.parametrize("roles", [(), ("consumer",)])
@pytest.mark.parametrize("asked", STOPS)
def test_stopping_is_for_those_who_work_with_tasks(active, program, person, roles, asked):
    method, path, body = asked
    answer = program(person(*roles))(method, path.format(active().name), body)
    assert answer.status_code == 403
    assert Task.objects.get().state == "active"


@pytest.mark.parametrize("asked", WRITES + STOPS)
def test_a_token_that_only_reads_changes_nothing(drafted, program, ada, asked):
    method, path, body = asked
    answer = program(ada, "read")(method, path.format(drafted().name), body)
    assert answer.status_code == 403
    assert answer.json()["error"]["message"] == "The token lacks the scope author."


@pytest.mark.parametrize("who", ["", "consumer"])
@pytest.mark.parametrize(
    "path", ["tasks", "tasks/{}", "tasks/{}/draft", "tasks/{}/revisions/1", "tasks/{}/comments"]
)
def test_reading_is_for_those_who_work_with_tasks(submitted, program, person, who, path):
    name = submitted().task.name
    answer = program(person(*filter(None, [who])))("get", path.format(name))
    assert answer.status_code == 403
    assert Client().get(f"/api/v1/{path.format(name)}").status_code == 401


@pytest.mark.parametrize("method", ["post", "put", "patch"])
@pytest.mark.parametrize(
    "path",
    [
        "tasks/{}/approve",
        "tasks/{}/revisions/1",
        "tasks/{}/revisions/1/approve",
        "tasks/{}/reject",
        "tasks/{}",
        "review/1",
        "review/1/approve",
        "revisions/1/approve",
    ],
)
def test_nothing_in_the_api_approves(submitted, program, rafael, method, path):
    """Not even a reviewer's token with every scope."""
    revision = submitted()
    body = {"seen": revision.content_sha256, "password": "correct horse battery", "comment": "ok"}
    answer = program(rafael)(method, path.format(revision.task.name), body)
    assert answer.status_code in (404, 405)
    assert Revision.objects.get().state == "in_review"


def test_no_name_of_a_call_speaks_of_approving():
    names = [p.name for p in api_urlpatterns if isinstance(p, URLPattern)]
    assert not [name for name in names if "approve" in name or "reject" in name]


@pytest.mark.parametrize(
    "extra",
    [
        {"state": "approved"},
        {"approver": "rafael"},
        {"approver_id": 1},
        {"author": "rafael"},
        {"signature": "ab" * 64},
        {"first_window": "2026-11-17T00:00:00Z"},
        {"editors": []},
        {"is_superuser": True},
    ],
)
@pytest.mark.parametrize("asked", [w for w in WRITES if "withdraw" not in w[1]])
def test_extra_fields_decide_nothing(drafted, program, ada, extra, asked):
    Grant.objects.create(person=ada, role="reviewer")
    task, (method, path, body) = drafted(), asked
    program(ada)(method, path.format(task.name), {**body, **extra})
    assert not Revision.objects.exclude(state="in_review").exists()
    assert not Revision.objects.filter(approver__isnull=False).exists()
    assert set(Task.objects.values_list("state", flat=True)) == {"draft"}
    assert task.editors.get().person == ada


def test_a_comment_cannot_be_a_decision(submitted, program, rafael):
    revision = submitted()
    body = {"text": "Approved.", "decision": "approved"}
    program(rafael)("post", f"tasks/{revision.task.name}/comments", body)
    assert Comment.objects.get().decision == ""


def test_a_comment_of_another_task_is_not_found(submitted, program, ada, clock):
    from portal.tasks import services

    first, other = submitted(), submitted("other")
    said = services.comment(task=other.task, text="Hm.", actor=ada, clock=clock)
    path = f"tasks/{first.task.name}/comments"
    assert program(ada)("post", f"{path}/{said.pk}/resolve").status_code == 404
    assert program(ada)("post", path, {"text": "x", "thread": said.pk}).status_code == 404


@pytest.mark.parametrize("name", ["A", "-a", "new", "a" * 65, "ä", "a b", "a/b"])
def test_a_name_is_a_name(streams, program, ada, name):
    answer = program(ada)("post", "tasks", {"name": name, "text": ""})
    assert answer.status_code == 400


def test_a_name_is_taken_once(drafted, program, ada):
    answer = program(ada)("post", "tasks", {"name": drafted().name, "text": ""})
    assert answer.status_code == 409


def test_a_draft_has_bounds(drafted, program, ada):
    task, call = drafted(), program(ada)
    for text in ("x" * 65_537, "null \0 byte"):
        answer = call("put", f"tasks/{task.name}/draft", {"text": text, "base_version": 1})
        assert answer.status_code == 400


def test_there_is_nothing_at_a_task_that_is_not_there(streams, program, ada):
    for path in ("tasks/none", "tasks/none/draft", "tasks/none/windows"):
        assert program(ada)("get", path).status_code == 404
