"""The API's description, read into what the page at /api shows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_METHODS = ("get", "post", "put", "patch", "delete")
_COLOURS = {"GET": "info", "POST": "good", "PUT": "warning", "PATCH": "warning", "DELETE": "bad"}
_PREFIX = "/api/v1/"
_SAMPLES = {
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "date-time": "2026-11-16T12:00:00Z",
    "date": "2026-11-16",
    "email": "ada@example.org",
    "uri": "/",
    "uuid": "0b0e7a3c-0000-4000-8000-000000000000",
}


@dataclass(frozen=True)
class Parameter:
    name: str
    # "path" or "query"
    place: str
    required: bool
    kind: str
    description: str
    # The only values it takes; empty if it takes any of its kind.
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Endpoint:
    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    roles: tuple[str, ...]
    # What a token needs; empty if nobody needs to sign in.
    scope: str
    # Tokens are refused.
    in_person: bool
    # An example of what is sent and of what comes back, as JSON text; empty if there is none.
    body: str
    answer: str
    answer_status: str

    @property
    def colour(self) -> str:
        return _COLOURS[self.method]

    @property
    def can_be_tried(self) -> bool:
        return self.method == "GET"


@dataclass(frozen=True)
class Group:
    name: str
    endpoints: tuple[Endpoint, ...]


def groups_of(document: dict[str, Any]) -> list[Group]:
    """All endpoints, grouped by the first part of their path, in the order of the alphabet."""
    found: dict[str, list[Endpoint]] = {}
    for endpoint in _endpoints(document):
        found.setdefault(endpoint.path.removeprefix(_PREFIX).split("/")[0], []).append(endpoint)
    return [Group(name, tuple(endpoints)) for name, endpoints in sorted(found.items())]


def example_of(schema: dict[str, Any], document: dict[str, Any], depth: int = 0) -> Any:
    """A value that fits the schema: its own example, its default, or a plain sample."""
    schema = _resolved(schema, document)
    for word in ("example", "default", "const"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][0]
    if depth > 6:
        return None
    kind = schema.get("type")
    if kind == "array":
        return [example_of(schema.get("items", {}), document, depth + 1)]
    if kind == "object" or "properties" in schema:
        named = schema.get("properties", {}).items()
        return {name: example_of(inner, document, depth + 1) for name, inner in named}
    return _SAMPLES.get(schema.get("format", ""), _SAMPLES.get(str(kind), "…" if kind else None))


def _endpoints(document: dict[str, Any]) -> Iterator[Endpoint]:
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield _endpoint(path, method, item[method], document)


def _endpoint(path: str, method: str, operation: dict[str, Any], doc: dict[str, Any]) -> Endpoint:
    access = operation["x-access"]
    status, answer = next(iter(operation["responses"].items()))
    return Endpoint(
        id=operation["operationId"].replace("_", "-"),
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=operation.get("description", ""),
        parameters=tuple(_parameter(p, doc) for p in operation.get("parameters", [])),
        roles=tuple(access["roles"]),
        scope=access["scope"],
        in_person=access["in_person"],
        body=_json_example(operation.get("requestBody", {}), doc),
        answer=_json_example(answer, doc),
        answer_status=status,
    )


def _parameter(given: dict[str, Any], document: dict[str, Any]) -> Parameter:
    schema = _resolved(given.get("schema", {}), document)
    return Parameter(
        name=given["name"],
        place=given["in"],
        required=bool(given.get("required")),
        kind=schema.get("format") or schema.get("type", "string"),
        description=given.get("description", ""),
        choices=tuple(str(value) for value in schema.get("enum", ())),
    )


def _json_example(holder: dict[str, Any], document: dict[str, Any]) -> str:
    content = holder.get("content", {}).get("application/json")
    if content is None:
        return ""
    examples = list(content.get("examples", {}).values())
    value = examples[0]["value"] if examples else example_of(content.get("schema", {}), document)
    return json.dumps(value, indent=2, ensure_ascii=False)


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """The schema behind references, and the first of several that would do."""
    for word in ("allOf", "oneOf", "anyOf"):
        if schema.get(word):
            return _resolved({**schema[word][0]}, document)
    if "$ref" in schema:
        return _resolved(document["components"]["schemas"][schema["$ref"].split("/")[-1]], document)
    return schema
