"""Everything that changes a task. Each step of its life has a module of its own."""

from portal.tasks.commenting import comment, resolve, unresolve
from portal.tasks.deciding import approve, ask_for_changes, reject
from portal.tasks.drafting import Saved, Stale, create_task, duplicate_task, save_draft
from portal.tasks.running import end, pause
from portal.tasks.submitting import resume_request, submit, withdraw

__all__ = [
    "Saved",
    "Stale",
    "approve",
    "ask_for_changes",
    "comment",
    "create_task",
    "duplicate_task",
    "end",
    "pause",
    "reject",
    "resolve",
    "resume_request",
    "save_draft",
    "submit",
    "unresolve",
    "withdraw",
]
