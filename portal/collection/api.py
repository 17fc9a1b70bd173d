"""What anyone may know of collection."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.collection.keys import device_keys


class DeviceKeysSerializer(serializers.Serializer[Any]):
    approval = serializers.CharField(help_text="Ed25519, in hex: signs approvals of tasks.")
    worker = serializers.CharField(help_text="Ed25519, in hex: signs the keys of sessions.")


class DeviceKeys(APIView):
    """The public keys that a device pins

    A device checks with them that two people agreed to a task, and that the key it seals to is a
    session's.
    """

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=DeviceKeysSerializer)
    def get(self, request: Request) -> Response:
        return Response(device_keys())
