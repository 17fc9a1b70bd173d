"""One writer at a time for each task: everything that changes one begins here."""

from portal.problems import Conflict
from portal.tasks.models import Task


def locked(task: Task) -> Task:
    """The task as it is now, locked until the transaction ends."""
    return Task.objects.select_for_update(no_key=True).get(pk=task.pk)


def locked_alive(task: Task) -> Task:
    found = locked(task)
    if found.state == Task.State.ENDED:
        raise Conflict(f"The task {found.name} has ended.", hint="Duplicate it to go on from it.")
    return found
