"""Finding what an address names, or saying that it is not there."""

from django.http import Http404

from portal.tasks.models import Comment, Revision, Task
from portal.tasks.selectors import task_by_name


def find_task(name: str) -> Task:
    found = task_by_name(name)
    if found is None:
        raise Http404(f"There is no task {name}.")
    return found


def find_revision(task: Task, number: int) -> Revision:
    rows = task.revisions.select_related("task", "author", "approver")
    found = rows.filter(number=number).first()
    if found is None:
        raise Http404(f"The task {task.name} has no revision {number}.")
    return found


def find_revision_by_id(pk: int) -> Revision:
    rows = Revision.objects.select_related("task", "author", "approver")
    found = rows.filter(pk=pk).first()
    if found is None:
        raise Http404("There is no such revision.")
    return found


def find_comment(task: Task, pk: int) -> Comment:
    found = task.comments.select_related("revision", "thread").filter(pk=pk).first()
    if found is None:
        raise Http404(f"The task {task.name} has no comment {pk}.")
    return found
