"""Tasks, what is being written of them, what was submitted and approved, and their windows.

All moments are civil time.
"""

from portal.tasks.models.comment import Comment
from portal.tasks.models.population import EVERYONE, Population
from portal.tasks.models.provenance import Provenance
from portal.tasks.models.revision import Revision
from portal.tasks.models.task import Draft, Editor, Task
from portal.tasks.models.window import TaskWindow

__all__ = [
    "EVERYONE",
    "Comment",
    "Draft",
    "Editor",
    "Population",
    "Provenance",
    "Revision",
    "Task",
    "TaskWindow",
]
