import json

import pytest

from portal.accounts.explorer import example_of, groups_of
from portal.openapi import document


@pytest.fixture(scope="module")
def endpoints():
    return {(e.method, e.path): e for group in groups_of(document()) for e in group.endpoints}


@pytest.mark.django_db
def test_it_works(signed_in, endpoints):
    page = signed_in("analyst").get("/api").content.decode()
    for _, path in endpoints:
        assert path in page


# Keys that anyone may have: no token, no scope.
FOR_EVERYONE = {"/api/v1/device-keys", "/api/v1/release-key"}


def test_every_endpoint_says_what_it_does_and_who_may_use_it(endpoints):
    for endpoint in endpoints.values():
        assert endpoint.summary, endpoint.path
        assert not endpoint.summary.endswith("."), endpoint.path
        scopes = ("",) if endpoint.path in FOR_EVERYONE else ("read", "author", "operate")
        assert endpoint.scope in scopes, endpoint.path


def test_it_knows_roles_scopes_and_what_is_for_people_only(endpoints):
    people = endpoints["GET", "/api/v1/people"]
    assert (people.roles, people.scope, people.in_person) == (("operator",), "operate", False)
    revoke = endpoints["POST", "/api/v1/tokens/{token_id}/revoke"]
    assert (revoke.scope, revoke.in_person, revoke.can_be_tried) == ("author", True, False)
    assert [(p.name, p.place, p.required) for p in revoke.parameters] == [
        ("token_id", "path", True)
    ]


def test_examples_are_json_of_the_right_shape(endpoints):
    answer = json.loads(endpoints["GET", "/api/v1/people"].answer)
    assert set(answer) == {"count", "next", "previous", "results"}
    assert answer["results"][0]["roles"] == ["analyst"]
    assert json.loads(endpoints["GET", "/api/v1/me"].answer)["person"]["email"] == "ada@example.org"


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"type": "integer"}, 1),
        ({"type": "string"}, "…"),
        ({"type": "string", "enum": ["b", "a"]}, "b"),
        ({"type": "array", "items": {"type": "boolean"}}, [True]),
        ({"allOf": [{"$ref": "#/components/schemas/A"}]}, {"at": "2026-11-16"}),
        ({"type": "number", "default": 3.5}, 3.5),
        ({}, None),
    ],
)
def test_an_example_fits_its_schema(schema, example):
    known = {"A": {"properties": {"at": {"type": "string", "format": "date"}}}}
    assert example_of(schema, {"components": {"schemas": known}}) == example


def test_a_schema_that_holds_itself_ends():
    tree = {"properties": {"inner": {"$ref": "#/components/schemas/Tree"}}}
    assert example_of(tree, {"components": {"schemas": {"Tree": tree}}})
