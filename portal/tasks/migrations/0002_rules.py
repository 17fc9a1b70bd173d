"""The rules of review and of windows that hold for every writer."""

from django.db import migrations

from portal.triggers import append_only, changes, never_emptied, refuse

TASK, REVISION, EDITOR = "tasks_task", "tasks_revision", "tasks_editor"
COMMENT, WINDOW, CHARGE = "tasks_comment", "tasks_taskwindow", "ledger_charge"

CONTENT = (
    "id", "task_id", "number", "author_id", "submitted_at", "draft_version", "resumes",
    "spec_text", "spec_json", "spec_sha256", "client_task_json", "client_task_sha256",
    "server_config_json", "server_config_sha256", "content_sha256",
    "epsilon", "window_unit", "streams", "warnings",
)  # fmt: skip
APPROVAL = ("approver_id", "approved_at", "first_window", "key_id", "signature")

# A revision that may run the window of the row NEW.
COVERS = (
    f"EXISTS (SELECT 1 FROM {REVISION} r WHERE r.id = NEW.revision_id AND r.task_id = NEW.task_id "
    "AND r.state = 'approved' AND r.first_window <= NEW.start "
    "AND (r.until_window IS NULL OR NEW.start < r.until_window))"
)
# The window's cost is reserved, and no week that it was charged to has been given back.
CHARGED = (
    f"EXISTS (SELECT 1 FROM {CHARGE} c JOIN {TASK} t ON t.name = c.task "
    'WHERE t.id = NEW.task_id AND c."window" = NEW."window" AND c.state = \'reserved\') '
    f"AND NOT EXISTS (SELECT 1 FROM {CHARGE} f JOIN {TASK} t ON t.name = f.task "
    'WHERE t.id = NEW.task_id AND f."window" = NEW."window" AND f.state = \'freed\' '
    f"AND NOT EXISTS (SELECT 1 FROM {CHARGE} r WHERE r.week_id = f.week_id "
    'AND r.task = f.task AND r."window" = f."window" AND r.state = \'reserved\'))'
)
ACTIVE = f"EXISTS (SELECT 1 FROM {TASK} t WHERE t.id = NEW.task_id AND t.state = 'active')"

task_rules = [
    refuse("a_task_begins_as_a_draft", table=TASK, event="INSERT", when="NEW.state <> 'draft'"),
    refuse(
        "a_task_is_never_replaced",
        table=TASK,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {TASK} t WHERE t.id = NEW.id OR t.name = NEW.name)",
    ),
    refuse(
        "a_task_keeps_its_name_and_its_maker",
        table=TASK,
        event="UPDATE",
        when=changes("id", "name", "created_by_id", "created_at"),
    ),
    refuse(
        "an_active_task_has_an_approved_revision_that_runs_on",
        table=TASK,
        event="UPDATE",
        when="NEW.state = 'active' AND OLD.state <> 'active' AND NOT EXISTS ("
        f"SELECT 1 FROM {REVISION} r WHERE r.task_id = NEW.id AND r.state = 'approved' "
        "AND r.until_window IS NULL)",
    ),
    refuse(
        "an_ended_task_stays_ended",
        table=TASK,
        event="UPDATE",
        when="OLD.state = 'ended' AND NEW.state <> 'ended'",
    ),
    refuse(
        "a_task_that_ran_is_no_draft_again",
        table=TASK,
        event="UPDATE",
        when="NEW.state = 'draft' AND OLD.state <> 'draft'",
    ),
    refuse(
        "only_a_task_that_runs_is_paused",
        table=TASK,
        event="UPDATE",
        when="NEW.state = 'paused' AND OLD.state NOT IN ('active', 'paused')",
    ),
    refuse("a_task_is_never_removed", table=TASK, event="DELETE"),
    never_emptied(TASK),
    append_only(EDITOR),
]

revision_rules = [
    refuse(
        "a_revision_begins_in_review",
        table=REVISION,
        event="INSERT",
        when="NEW.state <> 'in_review' OR NEW.approver_id IS NOT NULL",
    ),
    refuse(
        "a_revision_is_never_replaced",
        table=REVISION,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {REVISION} r WHERE r.id = NEW.id "
        "OR (r.task_id = NEW.task_id AND r.number = NEW.number))",
    ),
    refuse(
        "the_author_of_a_revision_is_an_editor",
        table=REVISION,
        event="INSERT",
        when=f"NOT EXISTS (SELECT 1 FROM {EDITOR} e WHERE e.task_id = NEW.task_id "
        "AND e.person_id = NEW.author_id)",
    ),
    refuse(
        "a_submitted_revision_never_changes",
        table=REVISION,
        event="UPDATE",
        when=changes(*CONTENT),
    ),
    refuse(
        "a_decided_revision_stays_decided",
        table=REVISION,
        event="UPDATE",
        when="OLD.state <> 'in_review' AND (OLD.state <> NEW.state "
        f"OR {changes('decided_at')})",
    ),
    refuse(
        "an_approval_is_written_once",
        table=REVISION,
        event="UPDATE",
        when=f"OLD.approver_id IS NOT NULL AND ({changes(*APPROVAL)})",
    ),
    refuse(
        "an_editor_does_not_approve",
        table=REVISION,
        event="UPDATE",
        when=f"NEW.approver_id IS NOT NULL AND OLD.approver_id IS NULL AND EXISTS ("
        f"SELECT 1 FROM {EDITOR} e WHERE e.task_id = NEW.task_id "
        "AND e.person_id = NEW.approver_id)",
    ),
    refuse(
        "only_a_reviewer_approves",
        table=REVISION,
        event="UPDATE",
        when="NEW.approver_id IS NOT NULL AND OLD.approver_id IS NULL AND NOT EXISTS ("
        "SELECT 1 FROM accounts_grant g JOIN accounts_person p ON p.id = g.person_id "
        "WHERE p.id = NEW.approver_id AND p.is_active AND g.role = 'reviewer')",
    ),
    refuse(
        "the_end_of_a_revision_only_moves_earlier",
        table=REVISION,
        event="UPDATE",
        when="OLD.until_window IS NOT NULL "
        "AND (NEW.until_window IS NULL OR NEW.until_window > OLD.until_window)",
    ),
    refuse("a_revision_is_never_removed", table=REVISION, event="DELETE"),
    never_emptied(REVISION),
    refuse(
        "a_comment_never_changes",
        table=COMMENT,
        event="UPDATE",
        when=changes(
            "id", "task_id", "revision_id", "thread_id", "author_id", "text", "created_at",
            "part", "line", "decision",
        ),
    ),
    refuse("a_comment_is_never_removed", table=COMMENT, event="DELETE"),
    never_emptied(COMMENT),
]  # fmt: skip

window_rules = [
    refuse(
        "a_window_begins_as_upcoming_or_skipped",
        table=WINDOW,
        event="INSERT",
        when="NEW.state NOT IN ('upcoming', 'skipped')",
    ),
    refuse(
        "a_window_is_never_replaced",
        table=WINDOW,
        event="INSERT",
        when=f"EXISTS (SELECT 1 FROM {WINDOW} w WHERE w.id = NEW.id "
        "OR (w.task_id = NEW.task_id AND w.start = NEW.start))",
    ),
    refuse(
        "a_window_has_an_approved_revision_and_is_charged",
        table=WINDOW,
        event="INSERT",
        when=f"NEW.state = 'upcoming' AND NOT ({COVERS} AND {CHARGED})",
    ),
    refuse(
        "a_window_keeps_its_place",
        table=WINDOW,
        event="UPDATE",
        when=changes("id", "task_id", "window", "unit", "start", "end"),
    ),
    refuse(
        "a_window_that_has_begun_keeps_its_revision",
        table=WINDOW,
        event="UPDATE",
        when=f"({changes('revision_id', 'due_at')}) "
        f"AND (OLD.state <> 'upcoming' OR NEW.state <> 'upcoming' OR NOT {COVERS})",
    ),
    refuse(
        "a_window_goes_from_state_to_state_in_order",
        table=WINDOW,
        event="UPDATE",
        when="OLD.state <> NEW.state AND NOT ("
        "(OLD.state = 'upcoming' AND NEW.state IN ('collecting', 'skipped')) OR "
        "(OLD.state = 'collecting' AND NEW.state IN ('grace', 'skipped')) OR "
        "(OLD.state = 'grace' AND NEW.state = 'releasing') OR "
        "(OLD.state = 'releasing' AND NEW.state = 'released'))",
    ),
    refuse(
        "a_window_is_collected_by_an_active_task_with_approval_and_charge",
        table=WINDOW,
        event="UPDATE",
        when="OLD.state = 'upcoming' AND NEW.state = 'collecting' "
        f"AND NOT ({COVERS} AND {CHARGED} AND {ACTIVE})",
    ),
    refuse("a_window_is_never_removed", table=WINDOW, event="DELETE"),
    never_emptied(WINDOW),
    refuse(
        "a_window_that_has_begun_stays_charged",
        table=CHARGE,
        event="UPDATE",
        when="NEW.state = 'freed' AND OLD.state <> 'freed' AND EXISTS ("
        f"SELECT 1 FROM {WINDOW} w JOIN {TASK} t ON t.id = w.task_id WHERE t.name = NEW.task "
        'AND w."window" = NEW."window" '
        "AND w.state IN ('collecting', 'grace', 'releasing', 'released'))",
    ),
]


class Migration(migrations.Migration):
    dependencies = [
        ("tasks", "0001_initial"),
        ("ledger", "0002_rules"),
        ("accounts", "0001_initial"),
    ]

    operations = [*task_rules, *revision_rules, *window_rules]
