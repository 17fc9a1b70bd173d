import io
import json

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.http import Http404
from django.test import Client
from rest_framework import exceptions, serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from aggregation.errors import Problem
from portal.api import Pages
from portal.openapi import document
from portal.problems import Conflict


class Closed(BaseThrottle):
    def allow_request(self, request, view):
        return False

    def wait(self):
        return 7


def _answer(error=None, *, throttles=(), method="get", **request):
    """The answer of a view that raises the error."""

    class View(APIView):
        permission_classes = [AllowAny]
        authentication_classes = []
        throttle_classes = throttles

        def get(self, request):
            raise error

        def post(self, request):
            return Response(request.data)

    asked = getattr(APIRequestFactory(), method)("/x", **request)
    answer = View.as_view()(asked)
    answer.render()
    body = json.loads(answer.content)
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "hint", "fields", "request_id"}
    return answer, body["error"]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Http404("No Person matches"), 404, "not_found"),
        (PermissionDenied("Not yours."), 403, "permission_denied"),
        (exceptions.NotFound(), 404, "not_found"),
        (exceptions.ParseError(), 400, "parse_error"),
        (Problem("The ε is −1.", hint="Give more."), 400, "problem"),
        (Conflict("It moved.", hint="Look again."), 409, "conflict"),
    ],
)
def test_every_error_has_one_shape(error, status, code):
    answer, found = _answer(error)
    assert (answer.status_code, found["code"], found["fields"]) == (status, code, [])
    assert found["message"].endswith(".")


def test_a_problem_keeps_its_words():
    _, found = _answer(Problem("The ε is −1.", hint="Give more than 0."))
    assert (found["message"], found["hint"]) == ("The ε is −1.", "Give more than 0.")


def test_a_missing_row_does_not_name_the_table():
    _, found = _answer(Http404("No Person matches the given query."))
    assert "Person" not in str(found)


def test_validation_names_every_field():
    class Inner(serializers.Serializer):
        size = serializers.IntegerField()

    class Outer(serializers.Serializer):
        name = serializers.CharField()
        parts = Inner(many=True)

    wrong = Outer(data={"parts": [{"size": 1}, {"size": "x"}]})
    wrong.is_valid()
    answer, found = _answer(serializers.ValidationError(wrong.errors))
    assert (answer.status_code, found["code"]) == (400, "invalid")
    assert found["message"] == "2 fields do not fit."
    assert {f["field"]: f["message"] for f in found["fields"]} == {
        "name": "This field is required.",
        "parts.1.size": "A valid integer is required.",
    }


def test_what_is_wrong_as_a_whole_has_no_field():
    _, found = _answer(serializers.ValidationError("The end is before the start."))
    assert found["message"] == "The end is before the start."
    assert found["fields"] == [{"field": "", "message": "The end is before the start."}]


def test_the_wrong_method_says_which_ones_are_right():
    answer, found = _answer(method="put")
    assert (answer.status_code, found["code"]) == (405, "method_not_allowed")
    assert "GET, POST" in found["hint"]
    assert "GET" in answer["Allow"]


def test_the_wrong_media_type_and_broken_json_say_what_to_send():
    answer, found = _answer(method="post", data=b"a=1", content_type="application/xml")
    assert (answer.status_code, found["code"]) == (415, "unsupported_media_type")
    answer, found = _answer(method="post", data=b"{", content_type="application/json")
    assert (answer.status_code, found["code"]) == (400, "parse_error")
    assert found["hint"] == "Send one JSON document."


def test_too_many_calls_say_how_long_to_wait():
    answer, found = _answer(throttles=[Closed])
    assert (answer.status_code, found["code"], answer["Retry-After"]) == (429, "throttled", "7")
    assert found["hint"] == "Try again in 7 seconds."


def test_our_own_mistakes_are_told_without_their_content(caplog):
    answer, found = _answer(ZeroDivisionError("secret 42"))
    assert (answer.status_code, found["code"]) == (500, "server_error")
    assert "42" not in str(found)
    assert "GET /x failed" in caplog.text


@pytest.mark.parametrize(
    "path", ["/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/me/", "/api/v1/a/b"]
)
@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_an_unknown_address_answers_in_json(path, method):
    answer = getattr(Client(), method)(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


@pytest.mark.django_db
def test_guests_are_told_how_to_come_in():
    answer = Client().get("/api/v1/me")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "Authorization: Bearer" in answer.json()["error"]["hint"]


def test_lists_come_in_pages():
    request = APIView().initialize_request(APIRequestFactory().get("/x?page=2&page_size=3"))
    pages = Pages()
    assert pages.paginate_queryset(list(range(8)), request) == [3, 4, 5]
    answer = pages.get_paginated_response([3, 4, 5]).data
    assert answer["count"] == 8
    assert answer["next"].endswith("page=3&page_size=3")
    assert answer["previous"].endswith("?page_size=3")


def test_a_page_has_at_most_500():
    request = APIView().initialize_request(APIRequestFactory().get("/x?page_size=100000"))
    assert len(Pages().paginate_queryset(list(range(1000)), request)) == 500


def test_a_page_that_is_not_there_is_named():
    request = APIView().initialize_request(APIRequestFactory().get("/x?page=9"))
    with pytest.raises(exceptions.NotFound, match="The list has no page 9"):
        Pages().paginate_queryset(list(range(8)), request)


def test_the_description_is_sound():
    """As `manage.py spectacular --validate --fail-on-warn`: a warning is a failure."""
    out = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    assert out.getvalue().startswith("openapi: 3")


def test_every_operation_has_the_error_shape_and_a_summary():
    operations = [o for item in document()["paths"].values() for o in item.values()]
    assert operations
    for operation in operations:
        assert operation["summary"], operation["operationId"]
        shape = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert shape == {"$ref": "#/components/schemas/Error"}


@pytest.mark.django_db
def test_a_window_of_a_release_says_how_it_is_named():
    paths = [one for one in document()["paths"] if "/releases/" in one and "{window}" in one]
    assert paths
    for path in paths:
        found = document()["paths"][path]["get"]["parameters"]
        (window,) = [one for one in found if one["name"] == "window"]
        assert "2026-W49" in window["description"]
        assert window["in"] == "path"


def test_the_description_is_served_to_those_who_are_signed_in(signed_in):
    assert Client().get("/api/v1/schema").status_code == 401
    assert signed_in("consumer").get("/api/v1/schema").json() == document()
