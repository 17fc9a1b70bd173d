"""Who one is, one's tokens, and (for operators) everyone, for programs."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.models import ApiToken, Person, Role, Scope
from portal.accounts.permissions import InPerson, Operating
from portal.accounts.selectors import everyone, tokens_of
from portal.accounts.tokens import revoke_token
from portal.clock import civil_clock
from portal.openapi import document


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    state = serializers.ChoiceField(choices=ApiToken.State.choices)
    prefix = serializers.CharField(help_text="The secret's first characters.")
    last_used_on = serializers.DateField(allow_null=True, help_text="The day, in UTC.")

    class Meta:
        model = ApiToken
        fields = [
            "id", "name", "prefix", "scopes", "state", "created_at", "expires_at", "last_used_on",
        ]  # fmt: skip


class RolesField(serializers.ListField):
    """DRF calls `Person.roles`, a set: the answer has the roles in their own order."""

    child = serializers.ChoiceField(choices=Role.choices)

    def to_representation(self, data: Any) -> list[str]:
        return [role.value for role in Role if role in data]


class PersonSerializer(serializers.ModelSerializer[Person]):
    roles = RolesField(read_only=True)

    class Meta:
        model = Person
        fields = ["id", "username", "full_name", "email", "roles"]


class EveryoneSerializer(PersonSerializer):
    class Meta(PersonSerializer.Meta):
        fields = [*PersonSerializer.Meta.fields, "is_active", "added_at", "last_login"]


class MeSerializer(serializers.Serializer[Any]):
    person = PersonSerializer()
    token = TokenSerializer(allow_null=True, help_text="The token that asked; null for a session.")


class Me(APIView):
    """Who is asking, with what roles, and with which token"""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        return Response(MeSerializer({"person": request.user, "token": request.auth}).data)


class Tokens(generics.ListAPIView[ApiToken]):
    """Your API tokens, newest first

    Their secrets are stored nowhere and cannot be shown again. New tokens are made on the page
    /account/tokens, with your password.
    """

    serializer_class = TokenSerializer
    permission_classes = [InPerson]
    queryset = ApiToken.objects.none()  # for the schema; the real one depends on who asks

    def get_queryset(self) -> QuerySet[ApiToken]:
        return tokens_of(self.request.user, now=datetime.now(UTC))  # type: ignore[arg-type]


class RevokeToken(APIView):
    """Revoke one of your API tokens

    It stops at once and for good. Revoking a revoked token changes nothing.
    """

    permission_classes = [InPerson]

    @extend_schema(request=None, responses=TokenSerializer)
    def post(self, request: Request, token_id: int) -> Response:
        own = tokens_of(request.user, now=datetime.now(UTC))  # type: ignore[arg-type]
        token = get_object_or_404(own, pk=token_id)
        revoke_token(token=token, actor=request.user, clock=civil_clock())  # type: ignore[arg-type]
        return Response(TokenSerializer(token).data)


class Everyone(generics.ListAPIView[Person]):
    """All people with their roles"""

    serializer_class = EveryoneSerializer
    permission_classes = [Operating]
    queryset = everyone()


class Description(APIView):
    """This API's description, in OpenAPI 3"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(document())
