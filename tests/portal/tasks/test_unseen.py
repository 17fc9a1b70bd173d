"""What a reviewer reads is what runs: characters that nobody sees are refused in what is new."""

import json

import pytest
from django.db import transaction

from aggregation.compiler import compile_spec
from aggregation.compiler.guard import unseen
from aggregation.errors import Problem
from aggregation.protocol.spec_reading import read_spec
from portal.streams.selectors import installed_catalog
from portal.tasks import contents, opening, services
from portal.tasks.activating import activate
from portal.tasks.models import Comment, Draft, Revision
from tests.portal.tasks.bypassing import FIRST
from tests.portal.tasks.conftest import spec_text

NAME = "trips-by-activity"
# Drawn as: FROM trips /* */ WHERE activity <> 'flying' /* */ GROUP BY …
HIDING = "FROM trips /*\u202e \u2066WHERE activity <> 'flying'\u2069 \u2066 */ GROUP"
TROJAN = spec_text(NAME).replace("FROM trips GROUP", HIDING)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            TROJAN,
            r"refused \(client_sql line 2\): The character here is U\+202E RIGHT-TO-LEFT OVERRIDE",
        ),
        (
            spec_text(NAME).replace("Trips by", "Trips\u2067 by"),
            r"\(description\): Line 1, column 6 of this text is U\+2067 RIGHT-TO-LEFT ISOLATE",
        ),
        (
            spec_text(NAME) + "# so\u200b\n",
            r"\(document line 15\): The character here is U\+200B ZERO WIDTH",
        ),
    ],
    ids=["SQL", "description", "comment"],
)
def test_it_is_not_submitted(streams, ada, clock, text, says):
    """A draft may have it, as it may have any fault."""
    task = services.create_task(name=NAME, text=text, actor=ada, clock=clock)
    with pytest.raises(Problem, match=says) as found:
        services.submit(task=task, version=1, actor=ada, clock=clock)
    assert found.value.hint == "Remove it, or type the line anew."
    assert not Revision.objects.exists()


def test_programs_are_told_as_the_editor_is(signed_in, drafted, ada):
    client, task = signed_in(who=ada), drafted()
    address = f"/api/v1/tasks/{task.name}"
    body = {"text": TROJAN, "base_version": 1}
    client.put(f"{address}/draft", body, content_type="application/json")
    answer = client.post(f"{address}/submit", {"version": 2}, content_type="application/json")
    assert answer.status_code == 400
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in answer.json()["error"]["message"]
    posted = {"spec": TROJAN}
    judged = client.post("/api/v1/specs/compile", posted, content_type="application/json").json()
    assert {d["rule"] for d in judged["diagnostics"]} == {"unseen_character"}
    assert (
        "U+202E RIGHT-TO-LEFT OVERRIDE" in client.get(f"/tasks/{task.name}/edit").content.decode()
    )


@pytest.fixture
def before_the_rule(drafted, ada, clock):
    """A revision in review that was submitted when nobody looked for such characters."""
    task = drafted()
    Draft.objects.filter(task=task).update(text=TROJAN)
    spec = read_spec(TROJAN)
    compiled = compile_spec(spec, installed_catalog(), without=frozenset({unseen.RULE}))
    return Revision.objects.create(
        task=task,
        number=1,
        author=ada,
        submitted_at=clock.now(),
        draft_version=1,
        **contents._content(TROJAN, spec, compiled).fields(),
    )


def test_what_was_submitted_before_is_read_but_not_approved(
    before_the_rule, approve, signed_in, rafael
):
    page = signed_in(who=rafael).get(f"/review/{before_the_rule.pk}")
    assert page.status_code == 200
    assert "The content does not hold" in page.content.decode()
    with pytest.raises(Problem, match="The character here is U\\+202E"):
        approve(before_the_rule)


def test_what_was_signed_before_stays_what_it_is(before_the_rule, signed_in, ada, rafael, clock):
    revision = before_the_rule
    with transaction.atomic():
        activate(revision=revision, approver=rafael, clock=clock)
    clock.set(FIRST)
    opening.advance_windows(task=revision.task, clock=clock)
    assert "collecting" in revision.windows.values_list("state", flat=True)
    client = signed_in(who=ada)
    for address in (f"/tasks/{NAME}", f"/review/{revision.pk}", f"/tasks/{NAME}/edit"):
        assert client.get(address).status_code == 200
    answer = client.get(f"/api/v1/tasks/{NAME}/revisions/1")
    assert "flying" in json.dumps(answer.json())
    services.pause(task=revision.task, reason="", actor=ada, clock=clock)
    with pytest.raises(Problem, match="The character here is U\\+202E"):
        services.resume_request(task=revision.task, actor=ada, clock=clock)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fine \u202e evil", "Line 1, column 6 of the comment is U+202E RIGHT-TO-LEFT OVERRIDE."),
        ("first\nsec\u200bond", "Line 2, column 4 of the comment is U+200B ZERO WIDTH SPACE."),
        ("a\x1bb", "Line 1, column 2 of the comment is U+001B CONTROL CHARACTER."),
    ],
)
def test_it_is_not_said(submitted, rafael, clock, text, says):
    revision = submitted()
    with pytest.raises(Problem) as found:
        services.comment(task=revision.task, text=text, actor=rafael, clock=clock)
    assert found.value.message.startswith(says)
    given = {"revision": revision, "seen": revision.content_sha256, "comment": text}
    with pytest.raises(Problem, match="of the comment is"):
        services.reject(**given, actor=rafael, clock=clock)
    assert not Comment.objects.exists()


def test_an_approval_with_such_words_is_none(submitted, approve):
    revision = submitted()
    with pytest.raises(Problem, match="of the comment is U\\+202E"):
        approve(revision, comment="Good\u202e.")
    revision.refresh_from_db()
    assert revision.state == Revision.State.IN_REVIEW


@pytest.mark.parametrize("text", ["می\u200cخواهم", "👩\u200d🔬 ❤\ufe0f", "a\tb\r\nc"])
def test_languages_and_emoji_are_spelt_as_they_are(drafted, ada, clock, text):
    services.comment(task=drafted(), text=text, actor=ada, clock=clock)
    assert Comment.objects.get().text == text
