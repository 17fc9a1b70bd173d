"""A stored partial as the heart reads it: its bytes, under the label that its row gives them."""

from aggregation.partials.envelope import Label
from aggregation.partials.merge import Stored
from portal.collection.leaving import TABLE
from portal.collection.models import Partial
from portal.tasks.models import TaskWindow


def as_stored(partial: Partial, window: TaskWindow) -> Stored:
    label = label_in(window, partial=partial.pk, level=partial.level, session=partial.session_id)
    return Stored(label, partial.key_day, bytes(partial.body))


def label_in(window: TaskWindow, *, partial: str, level: int, session: str | None = None) -> Label:
    """What a partial of this window is bound to; without a session it is a merge's."""
    return Label(
        table=TABLE,
        partial=partial,
        task=window.task.name,
        window=window.as_window(),
        level=level,
        session=session or "",
    )
