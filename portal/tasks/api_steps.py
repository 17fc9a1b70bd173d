"""The steps of a task's life for programs. There is no call that approves, asks or rejects."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.clock import civil_clock
from portal.problems import Conflict
from portal.tasks import selectors, services
from portal.tasks.api_tasks import Reading, Writing, checked, person
from portal.tasks.finding import find_comment, find_revision, find_task
from portal.tasks.models import Revision, Task
from portal.tasks.serializers import (
    CommentSerializer,
    DraftSerializer,
    DuplicateSerializer,
    NewCommentSerializer,
    ReasonSerializer,
    RevisionSerializer,
    SubmitSerializer,
    TaskSerializer,
)


class Submit(APIView):
    """Submit the draft for review

    Compiles it, freezes it as a revision, and takes back one that is in review already.
    """

    permission_classes = [Writing]

    @extend_schema(request=SubmitSerializer, responses={201: RevisionSerializer})
    def post(self, request: Request, name: str) -> Response:
        given = checked(SubmitSerializer, request)
        task = find_task(name)
        revision = services.submit(task=task, actor=person(request), clock=civil_clock(), **given)
        return _revision(revision, status.HTTP_201_CREATED)


class Withdraw(APIView):
    """Take the revision that is in review back"""

    permission_classes = [Writing]

    @extend_schema(request=None, responses=RevisionSerializer)
    def post(self, request: Request, name: str) -> Response:
        task = find_task(name)
        revision = selectors.revision_in_review(task)
        if revision is None:
            raise Conflict(f"No revision of {name} is in review.", hint="Submit one first.")
        services.withdraw(revision=revision, actor=person(request), clock=civil_clock())
        return _revision(revision)


class Resume(APIView):
    """Ask that a paused task runs again

    It is a revision in review like any other: a second person approves it, in the browser.
    """

    permission_classes = [Writing]

    @extend_schema(request=None, responses={201: RevisionSerializer})
    def post(self, request: Request, name: str) -> Response:
        task = find_task(name)
        revision = services.resume_request(task=task, actor=person(request), clock=civil_clock())
        return _revision(revision, status.HTTP_201_CREATED)


class Pause(APIView):
    """Pause an active task: nothing is collected from now on"""

    permission_classes = [Reading]

    @extend_schema(request=ReasonSerializer, responses=TaskSerializer)
    def post(self, request: Request, name: str) -> Response:
        given, task = checked(ReasonSerializer, request), find_task(name)
        services.pause(task=task, actor=person(request), clock=civil_clock(), **given)
        return _task(request, task)


class End(APIView):
    """End a task for good, and free what its later windows would have cost"""

    permission_classes = [Reading]

    @extend_schema(request=ReasonSerializer, responses=TaskSerializer)
    def post(self, request: Request, name: str) -> Response:
        given, task = checked(ReasonSerializer, request), find_task(name)
        services.end(task=task, actor=person(request), clock=civil_clock(), **given)
        return _task(request, task)


class Duplicate(APIView):
    """Begin a new task with this one's draft"""

    permission_classes = [Writing]

    @extend_schema(request=DuplicateSerializer, responses={201: DraftSerializer})
    def post(self, request: Request, name: str) -> Response:
        given, task = checked(DuplicateSerializer, request), find_task(name)
        copy = services.duplicate_task(
            task=task, actor=person(request), clock=civil_clock(), **given
        )
        return Response(DraftSerializer(copy.draft).data, status=status.HTTP_201_CREATED)


class Comments(APIView):
    """What was said on a task: threads, each followed by its answers"""

    permission_classes = [Reading]

    @extend_schema(responses=CommentSerializer(many=True))
    def get(self, request: Request, name: str) -> Response:
        threads = selectors.threads_of(find_task(name))
        said = [c for thread in threads for c in (thread, *thread.answers.all())]
        return Response(CommentSerializer(said, many=True).data)

    @extend_schema(request=NewCommentSerializer, responses={201: CommentSerializer})
    def post(self, request: Request, name: str) -> Response:
        """Say something on a task, on a revision, on a line of its SQL, or in a thread"""
        given, task = checked(NewCommentSerializer, request), find_task(name)
        said = services.comment(
            task=task, actor=person(request), clock=civil_clock(), **_placed(task, given)
        )
        return Response(CommentSerializer(said).data, status=status.HTTP_201_CREATED)


class ResolveComment(APIView):
    """Mark a thread as resolved"""

    permission_classes = [Reading]

    @extend_schema(request=None, responses=CommentSerializer)
    def post(self, request: Request, name: str, pk: int) -> Response:
        thread = find_comment(find_task(name), pk)
        services.resolve(thread=thread, actor=person(request), clock=civil_clock())
        return Response(CommentSerializer(thread).data)


class UnresolveComment(APIView):
    """Open a resolved thread again"""

    permission_classes = [Reading]

    @extend_schema(request=None, responses=CommentSerializer)
    def post(self, request: Request, name: str, pk: int) -> Response:
        thread = find_comment(find_task(name), pk)
        services.unresolve(thread=thread, actor=person(request), clock=civil_clock())
        return Response(CommentSerializer(thread).data)


def _placed(task: Task, given: dict[str, Any]) -> dict[str, Any]:
    number, thread = given.pop("revision"), given.pop("thread")
    return {
        **given,
        "revision": find_revision(task, number) if number is not None else None,
        "thread": find_comment(task, thread) if thread is not None else None,
    }


def _revision(revision: Revision, code: int = status.HTTP_200_OK) -> Response:
    return Response(RevisionSerializer(revision).data, status=code)


def _task(request: Request, task: Task) -> Response:
    rows = selectors.tasks_for(person(request), selectors.TaskFilter())
    return Response(TaskSerializer(rows.get(pk=task.pk)).data)
