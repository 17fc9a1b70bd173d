"""Populations for programs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from portal.access import SignedIn
from portal.accounts.permissions import Operating
from portal.clock import civil_clock
from portal.tasks.api_tasks import checked, person
from portal.tasks.models import Population
from portal.tasks.populations import add_population, populations


class PopulationSerializer(serializers.ModelSerializer[Population]):
    created_by = serializers.CharField(
        source="created_by.username", default=None, read_only=True, allow_null=True
    )

    class Meta:
        model = Population
        fields = ["name", "created_by", "created_at"]


class NewPopulationSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=64)


class Populations(generics.ListAPIView[Population]):
    """The populations that tasks may name

    Every device belongs to `all`, whatever else it belongs to.
    """

    serializer_class = PopulationSerializer
    queryset = populations()

    def get_permissions(self) -> list[BasePermission]:
        return [SignedIn() if self.request.method in SAFE_METHODS else Operating()]

    @extend_schema(request=NewPopulationSerializer, responses={201: PopulationSerializer})
    def post(self, request: Request) -> Response:
        """Add a population

        It stays for good: devices say that they belong to it.
        """
        given = checked(NewPopulationSerializer, request)
        made = add_population(actor=person(request), clock=civil_clock(), **given)
        return Response(PopulationSerializer(made).data, status=status.HTTP_201_CREATED)
