"""Reading tasks, revisions, windows and what was said about them."""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery

from portal.accounts.models import Person
from portal.ledger.selectors import is_charged
from portal.tasks.models import Comment, Editor, Revision, Task, TaskWindow

# Parts of the task list, by their names in its address; empty for all.
VIEWS = ("", "mine", "review", "active", "ended")


@dataclass(frozen=True)
class TaskFilter:
    """What a reader asks for; empty fields ask for everything."""

    # one of VIEWS
    view: str = ""
    text: str = ""
    stream: str = ""


def task_by_name(name: str) -> Task | None:
    return Task.objects.select_related("created_by", "draft__changed_by").filter(name=name).first()


def tasks_for(person: Person, wanted: TaskFilter) -> QuerySet[Task]:
    """Tasks by name, each with `newest_state`, `newest_number` and `newest_epsilon` of its newest
    revision."""
    found = _matching(wanted).select_related("created_by", "draft")
    return found.filter(_in_view(person, wanted.view)).order_by("name")


def task_counts(person: Person, wanted: TaskFilter) -> dict[str, int]:
    """How many tasks each view has of what is searched for, in one query."""
    views = {view or "all": Count("pk", filter=_in_view(person, view)) for view in VIEWS}
    found = _matching(wanted).aggregate(**views)
    return {view: found[view or "all"] for view in VIEWS}


def _matching(wanted: TaskFilter) -> QuerySet[Task]:
    newest = Revision.objects.filter(task=OuterRef("pk")).order_by("-number")
    found = Task.objects.annotate(
        newest_state=Subquery(newest.values("state")[:1]),
        newest_number=Subquery(newest.values("number")[:1]),
        newest_epsilon=Subquery(newest.values("epsilon")[:1]),
        newest_unit=Subquery(newest.values("window_unit")[:1]),
        newest_streams=Subquery(newest.values("streams")[:1]),
    )
    if wanted.text:
        text = Q(name__icontains=wanted.text) | Q(draft__text__icontains=wanted.text)
        found = found.filter(text)
    if wanted.stream:
        of_stream = Revision.objects.filter(streams__icontains=f'"{wanted.stream}"')
        found = found.filter(pk__in=of_stream.values("task_id"))
    return found


def _in_view(person: Person, view: str) -> Q:
    match view:
        case "mine":
            own = Editor.objects.filter(person=person).values("task_id")
            return Q(pk__in=own) & ~Q(state=Task.State.ENDED)
        case "review":
            return Q(newest_state=Revision.State.IN_REVIEW)
        case "active":
            return Q(state__in=[Task.State.ACTIVE, Task.State.PAUSED])
        case "ended":
            return Q(state=Task.State.ENDED)
        case _:
            return Q()


def revision_in_review(task: Task) -> Revision | None:
    return task.revisions.filter(state=Revision.State.IN_REVIEW).select_related("author").first()


def newest_revision(task: Task) -> Revision | None:
    return task.revisions.order_by("-number").first()


def revisions_with_deciders(task: Task) -> list[Revision]:
    """Newest first, each with `decider`: whoever approved, rejected or sent it back."""
    rows = list(task.revisions.select_related("author", "approver").order_by("-number"))
    said = task.comments.exclude(decision="").select_related("author")
    by_comment = {comment.revision_id: comment.author for comment in said}
    for row in rows:
        row.decider = row.approver or by_comment.get(row.pk)  # type: ignore[attr-defined]
    return rows


def last_approved(task: Task) -> Revision | None:
    approved = task.revisions.filter(state=Revision.State.APPROVED)
    return approved.select_related("author", "approver").order_by("-number").first()


def approved_before(revision: Revision) -> Revision | None:
    """The approved revision that this one would take the place of."""
    earlier = Revision.objects.filter(
        task_id=revision.task_id, number__lt=revision.number, state=Revision.State.APPROVED
    )
    return earlier.order_by("-number").first()


def decided_before(revision: Revision) -> Revision | None:
    """The newest earlier revision that somebody sent back, rejected or withdrew."""
    turned_down = Revision.objects.filter(
        task_id=revision.task_id, number__lt=revision.number
    ).exclude(state__in=[Revision.State.IN_REVIEW, Revision.State.APPROVED])
    return turned_down.order_by("-number").first()


def running_revision(task: Task) -> Revision | None:
    """The approved revision without an end; it may begin only with a later window."""
    running = task.revisions.filter(state=Revision.State.APPROVED, until_window=None)
    return running.select_related("task", "author", "approver").first()


def is_paid_for(row: TaskWindow) -> bool:
    """Whether the ledger has reserved for it what its revision says, no more and no less."""
    revision = row.revision
    return is_charged(
        task=revision.task.name,
        window=row.as_window(),
        streams=revision.streams,
        hundredths=revision.epsilon,
    )


def revisions_awaiting(person: Person) -> QuerySet[Revision]:
    """What this person may decide on, the longest waiting first."""
    own = Editor.objects.filter(person=person).values("task_id")
    return revisions_in_review().exclude(task_id__in=own).exclude(author=person)


def revisions_in_review() -> QuerySet[Revision]:
    waiting = Revision.objects.filter(state=Revision.State.IN_REVIEW)
    return waiting.select_related("task", "author").order_by("submitted_at", "pk")


def revisions_sent_back(person: Person) -> QuerySet[Revision]:
    """This person's newest revisions that a reviewer wants changed, of tasks still alive."""
    newest = Revision.objects.filter(task=OuterRef("task")).order_by("-number").values("pk")[:1]
    sent_back = Revision.objects.filter(author=person, state=Revision.State.CHANGES_REQUESTED)
    alive = sent_back.filter(pk=Subquery(newest)).exclude(task__state=Task.State.ENDED)
    return alive.select_related("task").order_by("task__name")


def editors_of(task: Task) -> QuerySet[Person]:
    ids = task.editors.values("person_id")
    return Person.objects.filter(pk__in=ids).order_by("username")


def threads_of(task: Task) -> QuerySet[Comment]:
    """What was said, each thread with its answers, oldest first."""
    answers = Comment.objects.select_related("author").order_by("pk")
    threads = task.comments.filter(thread=None).select_related("author", "revision", "resolved_by")
    return threads.prefetch_related(Prefetch("answers", queryset=answers)).order_by("pk")


def windows_of(task: Task) -> QuerySet[TaskWindow]:
    return task.windows.select_related("revision").order_by("start")
