"""Releases for programs. Public ones need no token, where the settings have public releases."""

import json
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from drf_spectacular.utils import extend_schema_view as described
from rest_framework import generics, serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aggregation.release.manifest import public_pem
from portal.releases.finding import find_release
from portal.releases.models import Release
from portal.releases.permissions import SignedInOrPublic
from portal.releases.rendering import CARD, MANIFEST, SIGNATURE
from portal.releases.selectors import releases_for
from portal.releases.signing import release_public_keys


class ReleaseSerializer(serializers.Serializer[Release]):
    task = serializers.CharField(source="window.task.name")
    window = serializers.CharField(source="window.window", help_text="Such as 2026-11-09.")
    label = serializers.SerializerMethodField(  # type: ignore[assignment] # DRF's own name
        help_text="The window as people read it, such as 2026-W46."
    )
    released_at = serializers.DateTimeField()
    audience = serializers.ChoiceField(Release.Audience.choices)
    noised_sha256 = serializers.CharField(help_text="Hash of the numbers all files are made of.")
    is_rendered = serializers.SerializerMethodField(help_text="Whether its files are there.")

    def get_label(self, release: Release) -> str:
        return release.window.as_window().label

    def get_is_rendered(self, release: Release) -> bool:
        return hasattr(release, "rendering")


class WholeReleaseSerializer(ReleaseSerializer):
    card = serializers.SerializerMethodField(help_text="The guarantee card.")
    card_signature = serializers.CharField(source="signature", help_text="Ed25519, in hex.")
    manifest = serializers.SerializerMethodField(
        help_text="The card and the hash of every file; null until they are made."
    )
    manifest_signature = serializers.SerializerMethodField(help_text="Ed25519, in hex, or null.")
    files = serializers.SerializerMethodField(help_text="Addresses of everything to download.")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_card(self, release: Release) -> Any:
        return json.loads(release.card)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_manifest(self, release: Release) -> Any:
        return json.loads(release.rendering.manifest) if hasattr(release, "rendering") else None

    def get_manifest_signature(self, release: Release) -> str | None:
        return release.rendering.signature if hasattr(release, "rendering") else None

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_files(self, release: Release) -> list[str]:
        if not hasattr(release, "rendering"):
            return []
        at = f"/releases/{release.window.task.name}/{release.window.window}/files"
        tables = sorted(json.loads(release.rendering.manifest)["files"])
        return [f"{at}/{name}" for name in (*tables, MANIFEST, SIGNATURE, CARD)]


@described(get=extend_schema(parameters=[OpenApiParameter("task", str)]))
class Releases(generics.ListAPIView[Release]):
    """Releases, the newest first

    What you may see: everything for people with a role; public releases for everybody else.
    """

    serializer_class = ReleaseSerializer
    permission_classes = [SignedInOrPublic]
    queryset = Release.objects.none()

    def get_queryset(self) -> QuerySet[Release]:
        rows = releases_for(self.request.user)
        task = self.request.GET.get("task", "")
        return rows.filter(window__task__name=task) if task else rows


class OneRelease(APIView):
    """One release with its guarantee card and its signed manifest

    The tables are files: each also as CSV, JSON and GeoJSON, with that ending in place of
    `.parquet`. The window `latest` is the newest one.
    """

    permission_classes = [SignedInOrPublic]

    @extend_schema(responses=WholeReleaseSerializer)
    def get(self, request: Request, task: str, window: str) -> Response:
        return Response(WholeReleaseSerializer(find_release(request.user, task, window)).data)


class ReleaseKeySerializer(serializers.Serializer[Any]):
    pem = serializers.CharField(help_text="Ed25519, as openssl reads it: signs releases.")
    others = serializers.ListField(
        child=serializers.CharField(), help_text="Announced as the next, or signed before."
    )


class ReleaseKey(APIView):
    """The public key that releases are checked with

    The page /docs/verify-a-release shows how, with openssl alone.
    """

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(responses=ReleaseKeySerializer)
    def get(self, request: Request) -> Response:
        pem, *others = [public_pem(key).decode() for key in release_public_keys()]
        return Response({"pem": pem, "others": others})
