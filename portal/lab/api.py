"""Studies for programs."""

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access import with_role
from portal.accounts.models import Person
from portal.clock import civil_clock
from portal.lab import selectors, services
from portal.lab.models import Study

_Students = with_role(*services.STUDENTS)


class NewStudySerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(Study.Kind.choices, help_text="What is studied.")
    parameters = serializers.DictField(
        required=False, help_text="Those of this kind of study; what is left out takes its default."
    )


class StudySerializer(serializers.ModelSerializer[Study]):
    asked_by = serializers.CharField(source="asked_by.username")

    class Meta:
        model = Study
        fields = [
            "id", "kind", "parameters", "is_loaded", "asked_by", "asked_at", "state", "progress",
            "started_at", "ended_at", "error",
        ]  # fmt: skip


class WholeStudySerializer(StudySerializer):
    result = serializers.JSONField(
        allow_null=True, help_text="Null until the study is done; its shape depends on the kind."
    )

    class Meta(StudySerializer.Meta):
        fields = [*StudySerializer.Meta.fields, "result"]


@extend_schema_view(
    get=extend_schema(parameters=[OpenApiParameter("kind", str, enum=Study.Kind.values)])
)
class Studies(generics.ListAPIView[Study]):
    """Studies of the lab, the newest first"""

    serializer_class = StudySerializer
    permission_classes = [_Students]
    queryset = Study.objects.none()

    def get_queryset(self) -> QuerySet[Study]:
        kind = self.request.GET.get("kind", "")
        return selectors.studies().filter(kind=kind) if kind else selectors.studies()

    @extend_schema(request=NewStudySerializer, responses={201: StudySerializer})
    def post(self, request: Request) -> Response:
        """Ask for a study, which waits for its turn"""
        given = NewStudySerializer(data=request.data)
        given.is_valid(raise_exception=True)
        study = services.ask_for_study(
            kind=given.validated_data["kind"],
            parameters=given.validated_data.get("parameters", {}),
            actor=cast(Person, request.user),
            clock=civil_clock(),
        )
        return Response(StudySerializer(study).data, status=status.HTTP_201_CREATED)


class LoadStudySerializer(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="What `manage.py calibrate` printed, whole.")


class LoadStudy(APIView):
    """Load the result of a calibration that was run where its data is"""

    permission_classes = [_Students]

    @extend_schema(request=LoadStudySerializer, responses={201: StudySerializer})
    def post(self, request: Request) -> Response:
        given = LoadStudySerializer(data=request.data)
        given.is_valid(raise_exception=True)
        study = services.load_study(
            text=given.validated_data["text"],
            actor=cast(Person, request.user),
            clock=civil_clock(),
        )
        return Response(StudySerializer(study).data, status=status.HTTP_201_CREATED)


class OneStudy(APIView):
    """One study, with its result"""

    permission_classes = [_Students]

    @extend_schema(responses=WholeStudySerializer)
    def get(self, request: Request, study: int) -> Response:
        return Response(WholeStudySerializer(selectors.find_study(study)).data)


class CancelStudy(APIView):
    """Cancel a study that waits or runs"""

    permission_classes = [_Students]

    @extend_schema(request=None, responses=StudySerializer)
    def post(self, request: Request, study: int) -> Response:
        found = services.cancel_study(
            study=selectors.find_study(study),
            actor=cast(Person, request.user),
            clock=civil_clock(),
        )
        return Response(StudySerializer(found).data)
