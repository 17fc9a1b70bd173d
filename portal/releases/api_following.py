"""Being told of a task's releases, for programs."""

from typing import Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.models import Person
from portal.releases.following import is_following, set_following


class FollowingSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    following = serializers.BooleanField(help_text="Whether you are told of its releases.")


class Following(APIView):
    """You are told with a notification, and by e-mail if your account says so."""

    @extend_schema(summary="Whether you follow a task", responses=FollowingSerializer)
    def get(self, request: Request, task: str) -> Response:
        return _answer(task, is_following(person=_person(request), task=task))

    @extend_schema(
        summary="Be told of a task's releases", request=None, responses=FollowingSerializer
    )
    def put(self, request: Request, task: str) -> Response:
        return _answer(task, set_following(person=_person(request), task=task, on=True))

    @extend_schema(
        summary="Be told no longer",
        request=None,
        responses={200: FollowingSerializer},
    )
    def delete(self, request: Request, task: str) -> Response:
        return _answer(task, set_following(person=_person(request), task=task, on=False))


def _answer(task: str, following: bool) -> Response:
    return Response({"task": task, "following": following})


def _person(request: Request) -> Person:
    return cast(Person, request.user)
