"""How the API describes itself: OpenAPI, out of the views' own docstrings and permissions."""

import json
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_doc
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import SAFE_METHODS

from portal.access import SignedIn
from portal.api import ErrorSerializer

_WINDOW = OpenApiParameter(
    "window",
    str,
    OpenApiParameter.PATH,
    description="Its id, such as 2026-11-30; a week or month by its label, such as 2026-W49 or "
    "2026-11; or latest, the newest.",
)


class Schema(AutoSchema):
    """A view's docstring: its first paragraph is the summary, the rest the description.

    Each operation also says what it asks for, as `x-access`: the roles of which one is needed,
    the scope a token needs, and whether tokens are refused.
    """

    def get_summary(self) -> str:
        return " ".join(self._paragraphs()[0].split()).rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        return "\n\n".join(self._paragraphs()[1:])

    def get_override_parameters(self) -> list[Any]:
        return [_WINDOW] if "/releases/" in self.path and "{window}" in self.path else []

    def get_extensions(self) -> dict[str, Any]:
        asked = [p for p in self.view.get_permissions() if isinstance(p, SignedIn)]
        default = "read" if self.method in SAFE_METHODS else "author"
        return {
            "x-access": {
                "roles": sorted({str(role) for p in asked for role in p.roles}),
                "scope": str(next((p.scope for p in asked if p.scope), default)) if asked else "",
                "in_person": any(getattr(p, "in_person", False) for p in asked),
            }
        }

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation["responses"]["default"] = self._error_answer()
        return operation

    def _paragraphs(self) -> list[str]:
        action = getattr(self.view, self.method.lower(), None)
        text = get_doc(action) if action and action.__module__.startswith("portal.") else ""
        return (text or get_doc(type(self.view))).strip().split("\n\n")

    def _error_answer(self) -> dict[str, Any]:
        component = self.resolve_serializer(ErrorSerializer, "response")
        return {
            "description": "Whatever goes wrong",
            "content": {"application/json": {"schema": component.ref}},
        }


@cache
def document() -> dict[str, Any]:
    """The whole description. It depends on the code only, so each process makes it once."""
    described = SchemaGenerator().get_schema(request=None, public=True)
    found: dict[str, Any] = json.loads(OpenApiJsonRenderer().render(described))
    return found
