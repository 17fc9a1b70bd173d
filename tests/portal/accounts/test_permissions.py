import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from portal.access import role_required
from portal.accounts.models import Role
from portal.accounts.permissions import InPerson, Operating
from tests.portal.accounts.conftest import bearer

pytestmark = pytest.mark.django_db
EVERY_SCOPE = ("read", "author", "operate")


class Plain(APIView):
    def get(self, request):
        return Response("seen")

    def post(self, request):
        return Response("written")


class ForOperators(Plain):
    permission_classes = [Operating]


class ForPeople(Plain):
    permission_classes = [InPerson]


def _call(view, method, secret):
    request = getattr(APIRequestFactory(), method)("/x", headers=bearer(secret))
    answer = view.as_view()(request)
    return answer.status_code


@pytest.mark.parametrize(
    ("scopes", "method", "status"),
    [
        (("read",), "get", 200),
        (("read",), "post", 403),
        (("author",), "get", 403),
        (("author",), "post", 200),
        (("operate",), "get", 403),
        (("operate",), "post", 403),
    ],
)
def test_a_token_needs_read_to_look_and_author_to_write(person, token, scopes, method, status):
    assert _call(Plain, method, token(person(), *scopes).secret) == status


@pytest.mark.parametrize("method", ["get", "post"])
def test_operators_things_need_the_role_and_the_scope(person, token, method):
    operator, analyst = person("operator"), person("analyst")
    assert _call(ForOperators, method, token(operator, "operate").secret) == 200
    assert _call(ForOperators, method, token(operator, "read", "author", name="2").secret) == 403
    assert _call(ForOperators, method, token(analyst, *EVERY_SCOPE).secret) == 403


@pytest.mark.parametrize("method", ["get", "post"])
def test_no_token_passes_for_a_person(person, token, method):
    everything = token(person(*Role.values), *EVERY_SCOPE)
    assert _call(ForPeople, method, everything.secret) == 403


def test_a_role_withdrawn_ends_what_the_token_could_do(person, token):
    operator = person("operator")
    made = token(operator, "operate")
    operator.grants.all().delete()
    assert _call(ForOperators, "get", made.secret) == 403


@role_required(Role.OPERATOR, Role.REVIEWER)
def _guarded(request):
    return HttpResponse("in")


def test_the_guard_of_pages_lets_in_who_has_one_of_the_roles(person):
    request = RequestFactory().get("/x")
    request.user = person("reviewer", "analyst")
    assert _guarded(request).content == b"in"


def test_the_page_says_which_role_is_needed(signed_in):
    answer = signed_in("analyst").get("/people")
    assert answer.status_code == 403
    assert "role operator" in answer.content.decode()
