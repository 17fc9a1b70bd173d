"""Ways around the second person through the ORM and raw SQL, each of them refused, on both
databases."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.models import F

from portal.accounts.models import Grant
from portal.tasks import services
from portal.tasks.models import Comment, Editor, Revision
from tests.portal.tasks.bypassing import approval_by, refused_by_the_database

pytestmark = pytest.mark.databases


def test_the_author_is_refused_by_the_database(submitted, ada):
    Grant.objects.create(person=ada, role="reviewer")
    revision = submitted()
    rows = Revision.objects.filter(pk=revision.pk)
    refused_by_the_database(lambda: rows.update(**approval_by(ada)))
    refused_by_the_database(lambda: rows.update(**approval_by(ada, approver_id=F("author_id"))))
    for name, value in approval_by(ada).items():
        setattr(revision, name, value)
    refused_by_the_database(revision.save)
    refused_by_the_database(
        lambda: Revision.objects.bulk_update([revision], list(approval_by(ada)))
    )


@pytest.mark.parametrize("roles", [("analyst", "reviewer"), ("analyst",), ("operator",), ()])
def test_editors_and_others_are_refused_by_the_database(submitted, person, roles, clock):
    revision, someone = submitted(), person(*roles)
    if "reviewer" in roles:
        Editor.objects.create(task=revision.task, person=someone, since=clock.now())
    rows = Revision.objects.filter(pk=revision.pk)
    refused_by_the_database(lambda: rows.update(**approval_by(someone)))


def test_a_deactivated_reviewer_is_refused_by_the_database(submitted, person):
    revision, gone = submitted(), person("reviewer")
    gone.is_active = False
    gone.save()
    rows = Revision.objects.filter(pk=revision.pk)
    refused_by_the_database(lambda: rows.update(**approval_by(gone)))


@pytest.mark.parametrize("missing", ["approved_at", "first_window", "key_id", "signature"])
def test_half_an_approval_is_none(submitted, rafael, missing):
    nothing = "" if missing in ("key_id", "signature") else None
    rows = Revision.objects.filter(pk=submitted().pk)
    refused_by_the_database(lambda: rows.update(**approval_by(rafael, **{missing: nothing})))


def test_an_approval_never_reaches_back(submitted, rafael):
    rows = Revision.objects.filter(pk=submitted().pk)
    before = datetime(2026, 11, 16, tzinfo=UTC)
    refused_by_the_database(lambda: rows.update(**approval_by(rafael, first_window=before)))


def test_a_revision_cannot_be_born_approved(submitted, rafael):
    revision = submitted()
    fields = {f.attname: getattr(revision, f.attname) for f in Revision._meta.concrete_fields}
    fields.update(id=None, number=2, **approval_by(rafael))
    refused_by_the_database(lambda: Revision.objects.bulk_create([Revision(**fields)]))
    refused_by_the_database(lambda: Revision(**fields).save(force_insert=True))


CHANGED = {
    "number": 7,
    "draft_version": 9,
    "resumes": True,
    "spec_text": "name: other",
    "spec_json": "{}",
    "spec_sha256": "0" * 64,
    "client_task_json": "{}",
    "client_task_sha256": "0" * 64,
    "server_config_json": "{}",
    "server_config_sha256": "0" * 64,
    "content_sha256": "0" * 64,
    "epsilon": 1,
    "window_unit": "hour",
    "streams": ["assistant"],
    "warnings": ["none"],
    "submitted_at": datetime(2020, 1, 1, tzinfo=UTC),
}


@pytest.mark.parametrize("field", CHANGED)
@pytest.mark.parametrize("stage", ["in_review", "approved"])
def test_a_submitted_revision_never_changes(submitted, approve, field, stage):
    revision = submitted()
    if stage == "approved":
        approve(revision)
    rows = Revision.objects.filter(pk=revision.pk)
    refused_by_the_database(lambda: rows.update(**{field: CHANGED[field]}))


def test_every_column_of_a_revision_is_frozen_or_has_a_rule_of_its_own():
    ruled = {
        "id", "task_id", "author_id", "state", "decided_at", "until_window",
        "approver_id", "approved_at", "first_window", "key_id", "signature",
    }  # fmt: skip
    columns = {field.attname for field in Revision._meta.concrete_fields}
    assert columns == ruled | set(CHANGED)


def test_author_and_task_stay(submitted, drafted, rafael):
    rows = Revision.objects.filter(pk=submitted().pk)
    refused_by_the_database(lambda: rows.update(author=rafael))
    refused_by_the_database(lambda: rows.update(task=drafted("other")))


@pytest.mark.parametrize(
    "fields",
    [
        {"signature": "cd" * 64},
        {"key_id": "1" * 16},
        {"first_window": datetime(2026, 11, 17, tzinfo=UTC)},
        {"approved_at": datetime(2026, 11, 1, tzinfo=UTC)},
        {"state": "in_review"},
        {"state": "withdrawn"},
    ],
)
def test_an_approval_is_written_once(submitted, approve, fields):
    rows = Revision.objects.filter(pk=approve(submitted()).pk)
    refused_by_the_database(lambda: rows.update(**fields))


def test_another_approver_cannot_be_put_in_place_of_the_first(submitted, approve, person):
    rows = Revision.objects.filter(pk=approve(submitted()).pk)
    refused_by_the_database(lambda: rows.update(approver=person("reviewer")))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM tasks_revision",
        "DELETE FROM tasks_editor",
        "UPDATE tasks_editor SET person_id = (SELECT MAX(id) FROM accounts_person)",
        "DELETE FROM tasks_task",
        "DELETE FROM tasks_comment",
        "DELETE FROM tasks_taskwindow",
        "DELETE FROM ledger_charge",
        "DELETE FROM ledger_week",
        "UPDATE tasks_task SET name = name || '-2'",
        "UPDATE tasks_comment SET text = 'other'",
        "UPDATE tasks_revision SET state = 'approved'",
        "UPDATE tasks_revision SET approver_id = author_id",
        "UPDATE ledger_charge SET amount = 1",
        "UPDATE ledger_week SET reserved = 0",
        "UPDATE ledger_week SET cap = 100000",
    ],
)
def test_raw_sql_is_refused(active, submitted, ada, clock, statement):
    task = active()
    services.comment(task=task, text="Hm.", actor=ada, clock=clock)
    submitted("other")
    refused_by_the_database(lambda: connection.cursor().execute(statement))


@pytest.mark.parametrize(
    "table", ["tasks_revision", "tasks_editor", "tasks_task", "ledger_charge", "ledger_week"]
)
def test_rows_are_not_replaced_or_emptied(active, table):
    active()
    if connection.vendor == "postgresql":
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
        statement = f"TRUNCATE {table} CASCADE"
    else:
        statement = f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"
    refused_by_the_database(lambda: connection.cursor().execute(statement))


def test_a_comment_is_not_put_into_another_s_mouth(submitted, ada, rafael, clock):
    revision = submitted()
    services.comment(task=revision.task, text="Hm.", actor=ada, clock=clock)
    refused_by_the_database(lambda: Comment.objects.update(author=rafael))
    refused_by_the_database(lambda: Comment.objects.update(decision="approved"))


def test_a_revision_s_author_is_known_to_have_written(submitted, rafael):
    """Else somebody could submit under a name of their choice, and approve under their own."""
    revision = submitted()
    fields = {f.attname: getattr(revision, f.attname) for f in Revision._meta.concrete_fields}
    Revision.objects.filter(pk=revision.pk).update(state="withdrawn")
    fields.update(id=None, number=2, author_id=rafael.pk)
    refused_by_the_database(lambda: Revision(**fields).save(force_insert=True))


@pytest.mark.parametrize("decided", ["withdrawn", "rejected", "changes_requested"])
def test_a_decided_revision_is_not_decided_again(submitted, rafael, decided):
    rows = Revision.objects.filter(pk=submitted().pk)
    rows.update(state=decided)
    refused_by_the_database(lambda: rows.update(state="in_review"))
    refused_by_the_database(lambda: rows.update(**approval_by(rafael)))
