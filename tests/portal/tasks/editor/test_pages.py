"""The editor's pages and what they ask for: who may, what is answered, what is kept."""

import pytest
from django.test import Client

from aggregation.protocol.spec_text import read_document
from portal.tasks.models import Draft, Revision, Task
from portal.tasks.services import create_task, save_draft
from tests.portal.tasks.editor.conftest import TEXT

POSTS = ("check", "save", "format", "statements", "preview", "forecast", "cost")
GETS = ("", "/document", "/values?stream=trips&column=activity&text=")


# Who may


@pytest.mark.parametrize("role", ["reviewer", "operator", "consumer"])
def test_it_is_for_analysts(role, signed_in, task):
    client = signed_in(role)
    assert client.get("/tasks/new").status_code == 403
    for what in GETS:
        assert client.get(f"/tasks/weekly-trips/edit{what}").status_code == 403
    for what in POSTS:
        answer = client.post(
            f"/tasks/weekly-trips/edit/{what}", "{}", content_type="application/json"
        )
        assert answer.status_code == 403, what
    assert client.post("/tasks/weekly-trips/edit", {"text": "x", "version": 1}).status_code == 403
    assert Draft.objects.get().text == TEXT


def test_guests_are_asked_to_sign_in(task):
    for what in GETS:
        assert Client().get(f"/tasks/weekly-trips/edit{what}").status_code == 302
    for what in POSTS:
        answer = Client().post(f"/tasks/weekly-trips/edit/{what}", "{}", content_type="text/json")
        assert answer.status_code == 302


def test_a_task_that_is_not_there_is_not_found(signed_in, db):
    client = signed_in("analyst")
    for what in GETS:
        assert client.get(f"/tasks/nothing/edit{what}").status_code == 404
    for what in POSTS:
        answer = client.post(f"/tasks/nothing/edit/{what}", "{}", content_type="application/json")
        assert answer.status_code == 404


def test_a_panel_that_is_not_there_is_not_found(signed_in, author, task):
    answer = signed_in(who=author).post("/tasks/weekly-trips/edit/nothing")
    assert answer.status_code == 404
    assert "The editor has no such panel." in answer.content.decode()


def test_an_ended_task_is_not_edited(signed_in, author, task, clock):
    Task.objects.filter(pk=task.pk).update(state="ended")
    assert signed_in(who=author).get("/tasks/weekly-trips/edit").status_code == 404


def test_what_the_editor_does_not_send_is_refused(signed_in, author, task):
    client = signed_in(who=author)
    for body in ("", "[]", "{", '{"text": 3}', '{"text": "x", "changes": [{"path": "name"}]}'):
        answer = client.post(
            "/tasks/weekly-trips/edit/check", body, content_type="application/json"
        )
        assert answer.status_code == 400, body
        assert answer.json()["error"]["message"]


def test_only_posts_change_anything(signed_in, author, task):
    assert signed_in(who=author).get("/tasks/weekly-trips/edit/save").status_code == 405


# Beginning


def test_the_new_page_offers_every_starting_point(signed_in):
    page = signed_in("analyst").get("/tasks/new").content.decode()
    assert page.count('type="radio"') == 8
    assert "Which means of transport" in page


def test_a_draft_begins_with_a_starting_point_under_its_own_name(signed_in, author):
    body = {"name": "riding", "start": "cycling-by-hour"}
    answer = signed_in(who=author).post("/tasks/new", body)
    assert answer["Location"] == "/tasks/riding/edit"
    draft = Draft.objects.get(task__name="riding")
    assert read_document(draft.text).value["name"] == "riding"
    assert "# One slice over everything" in draft.text


def test_a_draft_can_begin_with_an_uploaded_file(signed_in, author):
    from django.core.files.uploadedfile import SimpleUploadedFile

    file = SimpleUploadedFile("spec.yaml", b"name: other\ndescription: mine # yes\n")
    signed_in(who=author).post("/tasks/new", {"name": "uploaded", "document": file})
    assert Draft.objects.get().text == "name: uploaded\ndescription: mine # yes\n"


def test_a_file_that_is_no_text_is_refused(signed_in, author):
    from django.core.files.uploadedfile import SimpleUploadedFile

    file = SimpleUploadedFile("spec.yaml", b"\xff\xfe")
    answer = signed_in(who=author).post("/tasks/new", {"name": "uploaded", "document": file})
    assert answer.status_code == 400
    assert "not UTF-8" in answer.content.decode()
    assert not Task.objects.exists()


def test_a_name_that_is_taken_or_no_name_is_said(signed_in, author, task):
    client = signed_in(who=author)
    for name, words in (
        ("weekly-trips", "already"),
        ("Weekly Trips", "no name"),
        ("new", "no name"),
    ):
        answer = client.post("/tasks/new", {"name": name, "start": "blank"})
        assert answer.status_code == 400
        assert words in answer.content.decode()


def test_the_plain_count_compiles(signed_in, author):
    client = signed_in(who=author)
    client.post("/tasks/new", {"name": "plain", "start": "blank"})
    assert "The compiler accepts this task" in client.get("/tasks/plain/edit").content.decode()


# Without scripts


def test_the_document_can_be_downloaded(signed_in, author, task):
    answer = signed_in(who=author).get("/tasks/weekly-trips/edit/document")
    assert answer.content.decode() == TEXT
    assert "weekly-trips.yaml" in answer["Content-Disposition"]


def test_it_saves_and_checks_without_scripts(signed_in, author, task):
    client = signed_in(who=author)
    broken = TEXT.replace("week,", "fortnight,").replace("\n", "\r\n")
    page = client.post(
        "/tasks/weekly-trips/edit", {"text": broken, "version": 1, "action": "check"}
    )
    assert "cannot be submitted" in page.content.decode()
    assert Draft.objects.get().version == 1
    saved = client.post(
        "/tasks/weekly-trips/edit", {"text": broken, "version": 1, "action": "save"}
    )
    assert saved["Location"] == "/tasks/weekly-trips/edit"
    assert Draft.objects.get().text == TEXT.replace("week,", "fortnight,")


def test_a_stale_save_without_scripts_shows_both(signed_in, author, person, task, clock):
    other = person("analyst", username="omar")
    save_draft(task=task, text="theirs\n", base_version=1, actor=other, clock=clock)
    body = {"text": "mine\n", "version": 1, "action": "save"}
    answer = signed_in(who=author).post("/tasks/weekly-trips/edit", body)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "theirs" in page
    assert "mine" in page
    assert 'name="version" value="2"' in page
    assert Draft.objects.get().text == "theirs\n"


def test_submitting_saves_and_freezes_what_is_on_the_page(signed_in, author, task):
    text = TEXT.replace("epsilon: 2", "epsilon: 1")
    body = {"text": text, "version": 1, "action": "submit"}
    answer = signed_in(who=author).post("/tasks/weekly-trips/edit", body)
    assert answer["Location"] == "/tasks/weekly-trips"
    assert Revision.objects.get().spec_text == text


def test_a_refused_task_is_not_submitted_but_saved(signed_in, author, task):
    body = {"text": "name: a\n", "version": 1, "action": "submit"}
    answer = signed_in(who=author).post("/tasks/weekly-trips/edit", body)
    assert answer.status_code == 400
    assert not Revision.objects.exists()
    assert Draft.objects.get().text == "name: a\n"
    assert 'name="version" value="2"' in answer.content.decode()


def test_any_draft_can_be_opened(signed_in, author, clock):
    client = signed_in(who=author)
    for number, text in enumerate(["", "[", "name: [1", "just words", "{}", '<script>"&', "\n"]):
        name = f"odd-{number}"
        create_task(name=name, text=text, actor=author, clock=clock)
        answer = client.get(f"/tasks/{name}/edit")
        assert answer.status_code == 200, text
        assert "<script>&quot;" not in answer.content.decode()


def test_more_than_a_week_has_is_saved_but_not_submitted(signed_in, author, task):
    text = TEXT.replace("epsilon: 2", "epsilon: 5")
    body = {"text": text, "version": 1, "action": "submit"}
    answer = signed_in(who=author).post("/tasks/weekly-trips/edit", body)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "nobody could approve this task. Lower ε to at most 4." in page
    assert '<li class="problem refusal">' in page
    assert "accepts this task" not in page
    assert not Revision.objects.exists()
    assert Draft.objects.get().text == text


def test_the_form_and_the_problems_have_the_same_names_for_the_queries(signed_in, author, task):
    text = TEXT.replace("COUNT(*)", "event_time").replace("SUM(", "MAX(")
    body = {"text": text, "version": 1, "action": "check"}
    page = signed_in(who=author).post("/tasks/weekly-trips/edit", body).content.decode()
    for name in ("On each phone", "Across phones"):
        assert f"<strong>{name}</strong>" in page
        assert f'<div class="problem-place">{name} ' in page
