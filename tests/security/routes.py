"""All addresses of the portal and its API, out of the URL configuration: none can be forgotten."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

# Django's converters, and the one pattern that is written as a regular expression.
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
_GROUP = re.compile(r"\(\?P<(\w+)>[^)]*\)")
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True)
class Route:
    name: str
    # As /tasks/{name}/edit.
    template: str

    @property
    def arguments(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.template)

    @property
    def is_api(self) -> bool:
        return self.template.startswith("/api/v1/")


def routes() -> list[Route]:
    found = list(_routes(get_resolver().url_patterns, "/"))
    assert len({route.name for route in found}) == len(found)
    return sorted(found, key=lambda route: (route.is_api, route.template))


def _routes(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[Route]:
    for pattern in patterns:
        written = before + _template(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, written)
        elif pattern.name:  # the one without is what answers unknown addresses of the API
            yield Route(pattern.name, written)


def _template(pattern: str) -> str:
    plain = pattern.removeprefix("^").removesuffix("$")
    return _ARGUMENT.sub(r"{\1}", _GROUP.sub(r"{\1}", plain))
