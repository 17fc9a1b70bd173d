"""What anyone may know of collection."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.collection.keys import pinned_keys


class OtherKeysSerializer(serializers.Serializer[Any]):
    """Announced as the next, or signed before: what they sign holds, too."""

    approval = serializers.ListField(child=serializers.CharField())
    worker = serializers.ListField(child=serializers.CharField())


class DeviceKeysSerializer(serializers.Serializer[Any]):
    approval = serializers.CharField(help_text="Ed25519, in hex: signs approvals of tasks.")
    worker = serializers.CharField(help_text="Ed25519, in hex: signs the keys of sessions.")
    also = OtherKeysSerializer()


class DeviceKeys(APIView):
    """The public keys that a device pins

    A device checks with them that two people agreed to a task, and that the key it seals to is a
    session's.
    """

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=DeviceKeysSerializer)
    def get(self, request: Request) -> Response:
        return Response(pinned_keys())
