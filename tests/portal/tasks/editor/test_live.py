"""What the editor's page asks for while one types: what is answered, and what is kept."""

import json

import pytest
from django.utils import timezone

from aggregation.protocol.spec_text import read_document
from aggregation.protocol.windows import Unit, Window
from portal.audit.models import Entry
from portal.ledger.services import reserve
from portal.tasks.models import Draft, Editor
from portal.tasks.services import save_draft
from portal.tasks.starting_points import starting_point
from tests.portal.tasks.editor.conftest import TEXT, change

# Checking


def test_it_judges_and_explains(ask):
    status, found = ask("check", text=TEXT)
    assert status == 200
    assert found["accepted"] is True
    assert found["text"] == TEXT
    assert next(title for title, _ in found["explain"]) == "On the phone"
    assert found["results"][-1] == "duration_min"
    assert found["mechanism"]["slices"][0] == "walking"


def test_a_change_goes_into_the_text_and_is_judged(ask):
    sql = read_document(TEXT).value["client_sql"].replace("COUNT(*)", "event_time")
    _, found = ask("check", text=TEXT, changes=[change("client_sql", sql)])
    assert found["accepted"] is False
    assert found["explain"] is None
    first = found["diagnostics"][0]
    assert (first["part"], first["line"]) == ("client_sql", 2)
    assert first["hint"]
    lines = found["text"].splitlines()
    assert lines[first["document_line"] - 1][first["document_column"] - 1 :].startswith(
        "event_time"
    )


@pytest.mark.parametrize(
    ("path", "typed", "held"),
    [
        ("anonymization.epsilon", "0.57", 0.57),
        ("anonymization.epsilon", "much", "much"),
        ("anonymization.mechanism.clip", "4", 4),
        ("anonymization.mechanism.scales.driving.num_trips", "12.5", 12.5),
        ("window.unit", "day", "day"),
        ("window.grace_hours", "72", 72),
        ("population", "DE, FR", ["DE", "FR"]),
        ("population", "all", "all"),
        ("publish.columns", "", None),
        ("schedule.conditions", ["idle", "charging"], ["idle", "charging"]),
        ("eligibility.require_events", False, False),
        ("eligibility.sql", "SELECT install_age_days > 7 FROM device_facts", None),
        ("post_processing", None, None),
        ("description", "", ""),
    ],
)
def test_what_is_typed_into_the_form_is_in_the_document(ask, path, typed, held):
    _, found = ask("check", text=TEXT, changes=[change(path, typed)])
    value = found["document"]
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    assert value == (typed if path == "eligibility.sql" else held)
    assert "# What 95 of 100 phones" in found["text"]


def test_a_text_that_cannot_be_read_stays_as_it_is(ask):
    broken = TEXT.replace("streams: [trips]", "streams: [trips")
    _, found = ask("check", text=broken, changes=[change("window.unit", "day")])
    assert found["text"] == broken
    assert found["document"] is None
    assert found["diagnostics"][0]["rule"] == "unreadable"
    assert found["diagnostics"][0]["document_line"]


def test_numbers_that_json_has_not_do_not_break_the_answer(ask):
    _, found = ask("check", text=TEXT.replace("epsilon: 2", "epsilon: .nan"))
    assert found["document"]["anonymization"]["epsilon"] == "nan"
    assert found["accepted"] is False


@pytest.mark.parametrize("kind", ["joint_clipping", "group_scaling", "budget_split", "rotated"])
@pytest.mark.parametrize("slug", ["weekly-trips", "trip-lengths", "assistant-quality"])
def test_every_mechanism_can_be_chosen_and_compiles(ask, slug, kind):
    text = starting_point(slug).text
    _, found = ask("check", text=text, changes=[change("anonymization.mechanism.kind", kind)])
    assert found["document"]["anonymization"]["mechanism"]["kind"] == kind
    assert found["accepted"], found["diagnostics"]


@pytest.mark.parametrize(
    "mechanism",
    [
        "3",
        "joint",
        "[]",
        "{kind: 3}",
        "{kind: rotated, basis: 3, scales: x, by: 7}",
        "{scales: {walking: 2}}",
    ],
)
@pytest.mark.parametrize("path", ["kind", "by", "scale_by", "clip"])
def test_odd_mechanisms_can_be_mended_in_the_form(ask, mechanism, path):
    text = starting_point("trip-lengths").text
    text = text.replace("{kind: joint_clipping, clip: 60}", mechanism)
    value = "group_scaling" if path == "kind" else ["activity"]
    status, found = ask(
        "check", text=text, changes=[change(f"anonymization.mechanism.{path}", value)]
    )
    assert status == 200
    if path == "kind":
        assert found["accepted"], found["diagnostics"]


def test_a_fitted_basis_is_not_thrown_away(ask):
    kind = change("anonymization.mechanism.kind", "rotated")
    _, found = ask("check", text=TEXT, changes=[kind])
    fitted = [[0.1, 0.0, 0.0], [-0.02, 0.01, 0.0], [0.0, 0.0, 0.005]]
    basis = {"path": ["anonymization", "mechanism", "basis", "driving"], "value": fitted}
    by = change("anonymization.mechanism.by", ["activity"])
    _, again = ask("check", text=found["text"], changes=[basis, by])
    assert again["document"]["anonymization"]["mechanism"]["basis"]["driving"] == fitted
    assert again["accepted"], again["diagnostics"]


def test_slices_that_are_too_many_for_the_form_lose_nothing(ask):
    path = "anonymization.mechanism.scale_by"
    _, found = ask("check", text=TEXT, changes=[change(path, ["activity", "region"])])
    before = read_document(TEXT).value["anonymization"]["mechanism"]["scales"]
    assert found["document"]["anonymization"]["mechanism"]["scales"] == before


def test_other_slices_bring_their_own_numbers_and_keep_the_old_ones(ask):
    path = "anonymization.mechanism.scale_by"
    _, two = ask("check", text=TEXT, changes=[change(path, ["activity", "direction"])])
    assert two["accepted"], two["diagnostics"]
    assert len(two["document"]["anonymization"]["mechanism"]["scales"]) == 27
    _, one = ask("check", text=TEXT, changes=[change(path, ["activity"])])
    assert one["document"] == read_document(TEXT).value


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("day", "A daily task may spend at most 0.57 a day"),
        ("hour", "An hourly task may spend at most 0.02 an hour"),
        ("week", "A weekly task may spend at most 4 a week"),
        ("month", "A monthly task may spend at most 2 a month"),
    ],
)
def test_consequences_are_said_as_one_types(ask, unit, words):
    _, found = ask("check", text=TEXT, changes=[change("window.unit", unit)])
    assert found["consequences"]["window.unit"].startswith(words)


@pytest.mark.parametrize(
    ("unit", "epsilon", "cost", "hint"),
    [
        ("day", "2", "14", "Lower ε to at most 0.57."),
        ("hour", "0.03", "5.04", "Lower ε to at most 0.02."),
        ("week", "5", "5", "Lower ε to at most 4."),
        ("month", "2.5", "5", "Lower ε to at most 2."),
    ],
)
def test_more_than_a_week_has_is_a_problem_and_not_a_hint(ask, unit, epsilon, cost, hint):
    changes = [change("window.unit", unit), change("anonymization.epsilon", epsilon)]
    _, found = ask("check", text=TEXT, changes=changes)
    assert found["accepted"] is False
    [problem] = found["diagnostics"]
    assert (problem["part"], problem["severity"]) == ("anonymization.epsilon", "refusal")
    assert f"one week can cost {cost}, and each week has 4" in problem["message"]
    assert problem["hint"] == hint
    line = found["text"].splitlines()[problem["document_line"] - 1]
    assert line[problem["document_column"] - 1 :].startswith(f"epsilon: {epsilon}")
    assert "a week" not in found["consequences"]["anonymization.epsilon"]


def test_as_much_as_a_week_has_is_none(ask):
    _, found = ask("check", text=TEXT, changes=[change("anonymization.epsilon", "4")])
    assert (found["accepted"], found["diagnostics"]) == (True, [])


@pytest.fixture
def others(clock, db):
    """Somebody else's 3 of the 4 that trips has next week."""
    week = Window.containing(timezone.now(), Unit.WEEK).next()
    reserve(task="other", streams=["trips"], windows=[week], hundredths=300, clock=clock)
    return f"others hold 3 of trips in {week.label}, which leaves 1"


def test_what_others_have_left_is_said_where_epsilon_is_chosen(ask, others):
    _, found = ask("check", text=TEXT, changes=[change("anonymization.epsilon", "1")])
    said = found["consequences"]["anonymization.epsilon"]
    assert f"It reserves 1 of 4 a week. O{others[1:]}." in said
    assert (found["accepted"], found["shortage"]) == (True, "")


def test_more_than_others_leave_can_be_submitted_and_is_told(ask, others):
    _, found = ask("check", text=TEXT, changes=[change("anonymization.epsilon", "3")])
    assert (found["accepted"], found["diagnostics"]) == (True, [])
    assert found["shortage"] == f"{others}, and this task needs 3"


def test_submitting_more_than_others_leave_says_so(others, signed_in, author, task):
    client = signed_in(who=author)
    body = {"text": TEXT, "version": 1}
    page = client.post("/tasks/weekly-trips/edit", {**body, "action": "check"}).content.decode()
    assert f"but not approved as the ledger stands: {others}, and this task needs 2." in page
    sent = {**body, "action": "submit"}
    page = client.post("/tasks/weekly-trips/edit", sent, follow=True).content.decode()
    assert "awaits review by a second person" in page
    assert f"cannot be approved as the ledger stands: {others}, and this task needs 2." in page


def test_where_no_step_of_epsilon_fits_a_longer_window_does(ask, settings):
    settings.WEEKLY_EPSILON = 100
    changes = [change("window.unit", "hour"), change("anonymization.epsilon", "0.01")]
    [problem] = ask("check", text=TEXT, changes=changes)[1]["diagnostics"]
    assert problem["hint"] == "Choose a longer window."


def test_problems_name_the_editors_as_the_form_does(ask):
    queries = read_document(TEXT).value
    client = queries["client_sql"].replace("COUNT(*)", "event_time")
    changes = [change("client_sql", client)]
    [first, *_] = ask("check", text=TEXT, changes=changes)[1]["diagnostics"]
    assert first["place"] == f"On each phone {first['line']}:{first['column']}"
    changes = [change("server_sql", None)]
    [missing] = ask("check", text=TEXT, changes=changes)[1]["diagnostics"]
    assert missing["part"] == "server_sql"
    assert missing["place"].startswith("Across phones")
    assert missing["hint"].startswith("Write “On each phone” and “Across phones”")


def test_a_check_keeps_nothing(ask):
    before = Entry.objects.count()
    ask("check", text="something else")
    assert Draft.objects.get().text == TEXT
    assert Entry.objects.count() == before


# Saving


def test_a_save_has_the_next_version(ask):
    assert ask("save", text="name: a\n", version=1) == (200, {"version": 2})
    assert Draft.objects.get().text == "name: a\n"


def test_somebody_elses_save_is_not_overwritten(ask, person, task, clock):
    other = person("analyst", username="omar")
    save_draft(task=task, text="theirs\n", base_version=1, actor=other, clock=clock)
    status, found = ask("save", text="mine\n", version=1)
    assert status == 409
    assert found["stale"]["text"] == "theirs\n"
    assert found["stale"]["by"] == str(other)
    assert Draft.objects.get().text == "theirs\n"
    assert ask("save", text="mine\n", version=found["stale"]["version"])[0] == 200


def test_a_check_tells_of_somebody_elses_save(ask, person, task, clock):
    assert "text" not in ask("check", text=TEXT, version=1)[1]["draft"]
    save_draft(task=task, text="x", base_version=1, actor=person("analyst"), clock=clock)
    held = ask("check", text=TEXT, version=1)[1]["draft"]
    assert (held["version"], held["text"]) == (2, "x")


def test_a_draft_that_is_too_long_is_not_saved(ask):
    status, found = ask("save", text="x" * 70_000, version=1)
    assert status == 400
    assert "65,536" in found["error"]["message"]


def test_looking_makes_nobody_an_editor(signed_in, person, task):
    reader = person("analyst", username="reader")
    client = signed_in(who=reader)
    assert client.get("/tasks/weekly-trips/edit").status_code == 200
    client.post(
        "/tasks/weekly-trips/edit/save",
        json.dumps({"text": TEXT, "version": 1}),
        content_type="application/json",
    )
    assert not Editor.objects.filter(person=reader).exists()


# Formatting and statements


def test_a_query_is_laid_out(ask):
    status, found = ask("format", sql="select a from t -- why")
    assert (status, found["sql"]) == (200, "SELECT a\nFROM t -- why\n")


def test_what_cannot_be_laid_out_says_so(ask):
    status, found = ask("format", sql="select 'a")
    assert status == 400
    assert "does not end" in found["error"]["message"]


def test_two_queries_become_one_and_two_again(ask):
    spec = read_document(TEXT).value
    queries = {"client_sql": spec["client_sql"], "server_sql": spec["server_sql"]}
    _, one = ask("statements", **queries)
    changes = [change("client_sql", None), change("server_sql", None), change("sql", one["sql"])]
    _, nested = ask("check", text=TEXT, changes=changes)
    assert nested["accepted"]
    assert set(nested["document"]) & {"client_sql", "server_sql", "sql"} == {"sql"}
    assert ask("statements", sql=one["sql"])[1] == queries
