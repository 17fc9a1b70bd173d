"""Tasks for programs: everything an analyst can do, except approving."""

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access import with_role
from portal.accounts.models import Person, Role
from portal.clock import civil_clock
from portal.problems import Conflict
from portal.tasks import selectors, services
from portal.tasks.finding import find_revision, find_task
from portal.tasks.forms import TaskFilterForm
from portal.tasks.models import Draft, Revision, Task, TaskWindow
from portal.tasks.reading import whole_revision
from portal.tasks.rights import READERS
from portal.tasks.serializers import (
    DraftSerializer,
    NewTaskSerializer,
    RevisionSerializer,
    SaveDraftSerializer,
    TaskSerializer,
    WholeRevisionSerializer,
    WindowSerializer,
)

Reading = with_role(*READERS)
Writing = with_role(Role.ANALYST)


def checked(serializer: type[Any], request: Request) -> dict[str, Any]:
    """The body's fields, or the API's error about those that do not fit."""
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return cast(dict[str, Any], given.validated_data)


def person(request: Request) -> Person:
    return cast(Person, request.user)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            OpenApiParameter("view", str, enum=["mine", "review", "active", "ended"]),
            OpenApiParameter("text", str, description="In the name or the draft."),
            OpenApiParameter("stream", str),
        ]
    )
)
class Tasks(generics.ListAPIView[Task]):
    """Tasks by name"""

    serializer_class = TaskSerializer
    permission_classes = [Reading]
    queryset = Task.objects.none()

    def get_queryset(self) -> QuerySet[Task]:
        wanted = TaskFilterForm(self.request.GET).wanted()
        return selectors.tasks_for(person(self.request), wanted)

    @extend_schema(request=NewTaskSerializer, responses={201: DraftSerializer})
    def post(self, request: Request) -> Response:
        """Make a task with its first draft, for analysts

        The text may be incomplete; it is judged when it is submitted. Answers with the draft.
        """
        given = checked(NewTaskSerializer, request)
        task = services.create_task(actor=person(request), clock=civil_clock(), **given)
        return Response(DraftSerializer(task.draft).data, status=status.HTTP_201_CREATED)


class OneTask(generics.RetrieveAPIView[Task]):
    """One task"""

    serializer_class = TaskSerializer
    permission_classes = [Reading]
    queryset = Task.objects.none()

    def get_object(self) -> Task:
        task = find_task(self.kwargs["name"])
        return selectors.tasks_for(person(self.request), selectors.TaskFilter()).get(pk=task.pk)


class TaskDraft(APIView):
    """The task's draft, with its version"""

    permission_classes = [Reading]

    @extend_schema(responses=DraftSerializer)
    def get(self, request: Request, name: str) -> Response:
        return Response(DraftSerializer(find_task(name).draft).data)

    @extend_schema(request=SaveDraftSerializer, responses=DraftSerializer)
    def put(self, request: Request, name: str) -> Response:
        """Save the draft on top of a version, for analysts

        Answers 409 if somebody saved another version meanwhile; nothing is overwritten.
        """
        task, given = find_task(name), checked(SaveDraftSerializer, request)
        saved = services.save_draft(task=task, actor=person(request), clock=civil_clock(), **given)
        if isinstance(saved, services.Stale):
            raise Conflict(
                f"The draft is at version {saved.version}, by {saved.changed_by.username}.",
                hint="Read it, put your change on top of it, and save again.",
            )
        return Response(DraftSerializer(Draft.objects.get(task=task)).data)


class Revisions(generics.ListAPIView[Revision]):
    """A task's revisions, newest first"""

    serializer_class = RevisionSerializer
    permission_classes = [Reading]
    queryset = Revision.objects.none()

    def get_queryset(self) -> QuerySet[Revision]:
        rows = find_task(self.kwargs["name"]).revisions.order_by("-number")
        return rows.select_related("task", "author", "approver")


class OneRevision(APIView):
    """One revision with everything that was frozen, and the signature over it"""

    permission_classes = [Reading]

    @extend_schema(responses=WholeRevisionSerializer)
    def get(self, request: Request, name: str, number: int) -> Response:
        revision = find_revision(find_task(name), number)
        return Response(WholeRevisionSerializer(whole_revision(revision)).data)


class Windows(generics.ListAPIView[TaskWindow]):
    """A task's windows, oldest first"""

    serializer_class = WindowSerializer
    permission_classes = [Reading]
    queryset = TaskWindow.objects.none()

    def get_queryset(self) -> QuerySet[TaskWindow]:
        return selectors.windows_of(find_task(self.kwargs["name"]))
