"""Populations: made by operators, on the record, and known when a task is submitted."""

import json

import pytest
from django.core.exceptions import PermissionDenied

from aggregation.errors import Problem
from portal.audit.models import Entry
from portal.problems import Conflict
from portal.tasks import services
from portal.tasks.models import Population
from portal.tasks.populations import add_population
from tests.portal.tasks.conftest import spec_text


@pytest.fixture
def olga(person):
    return person("operator", username="olga")


def test_it_works(olga, clock):
    made = add_population(name="DE", actor=olga, clock=clock)
    assert (made.created_by, made.created_at) == (olga, clock.now())
    assert list(Population.objects.values_list("name", flat=True)) == ["DE", "all"]
    entry = Entry.objects.get(action="population.created")
    assert (entry.actor, entry.object_label) == ("olga", "DE")


def test_it_refuses_others_than_operators(ada, rafael, clock):
    for who in (ada, rafael):
        with pytest.raises(PermissionDenied):
            add_population(name="DE", actor=who, clock=clock)


@pytest.mark.parametrize("name", ["", "a b", "-a", "é", "x" * 65, "a\n"])
def test_it_refuses_names_that_no_spec_can_have(olga, clock, name):
    with pytest.raises(Problem, match="no name for a population"):
        add_population(name=name, actor=olga, clock=clock)


def test_it_refuses_a_name_twice(olga, clock):
    with pytest.raises(Conflict, match="a population all already"):
        add_population(name="all", actor=olga, clock=clock)


def submit(ada, clock, population):
    text = spec_text("by-country").replace("population: all", f"population: {population}")
    task = services.create_task(name="by-country", text=text, actor=ada, clock=clock)
    return services.submit(task=task, version=1, actor=ada, clock=clock)


def test_a_task_names_populations_that_exist(streams, ada, olga, clock):
    add_population(name="DE", actor=olga, clock=clock)
    revision = submit(ada, clock, "[all, DE]")
    assert json.loads(revision.client_task_json)["populations"] == ["DE", "all"]


def test_a_task_of_a_population_that_nobody_made_is_refused(streams, ada, clock):
    with pytest.raises(Problem, match=r"population.0.*no population DE. 1 more") as found:
        submit(ada, clock, "[DE, all, XX]")
    assert found.value.hint == "There is only all. Operators can add others."


def test_programs_read_and_operators_add(signed_in):
    assert signed_in("analyst").get("/api/v1/populations").json()["results"][0]["name"] == "all"
    body = {"name": "FR"}
    asked = {"data": body, "content_type": "application/json"}
    assert signed_in("analyst").post("/api/v1/populations", **asked).status_code == 403
    answer = signed_in("operator").post("/api/v1/populations", **asked)
    assert (answer.status_code, answer.json()["name"]) == (201, "FR")
    assert signed_in("operator").post("/api/v1/populations", **asked).status_code == 409
    asked["data"] = {"name": " "}
    assert signed_in("operator").post("/api/v1/populations", **asked).status_code == 400
