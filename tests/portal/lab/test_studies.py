"""Studies: asked for, run, cancelled, kept."""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction
from django.utils import timezone

from aggregation.errors import Problem
from portal.audit.models import Entry
from portal.lab import selectors, services, working
from portal.lab.models import Study
from portal.problems import Conflict

SMALL = {"phones": 20_000, "seed": 3}


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


@pytest.fixture
def ask(ada, clock):
    def asked(parameters=SMALL, actor=ada, kind="reach"):
        return services.ask_for_study(kind=kind, parameters=parameters, actor=actor, clock=clock)

    return asked


def actions():
    return list(Entry.objects.order_by("seq").values_list("action", flat=True))


def test_it_works(ask, clock):
    study = ask()
    assert selectors.next_waiting() == study
    assert services.begin_study(study=study, clock=clock)
    working.work(study=study, clock=clock)
    study.refresh_from_db()
    assert study.state == Study.State.DONE
    assert study.progress == 1
    assert len(study.result["constraints"]) == 16
    assert actions() == ["study.asked", "study.running", "study.done"]


def test_defaults_are_written_out(ask):
    assert ask({}).parameters == {"phones": 200_000, "seed": 1}
    assert ask({"devices": 20_000}, kind="comparison").parameters["epsilons"] == [2.0]


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        ("reach", {"phones": 1}, "from 20,000 to 2,000,000, not 1"),
        ("reach", {"phones": "many"}, "to 2,000,000, not 'many'"),
        ("reach", {"colour": 1}, "knows no 'colour'"),
        ("reach", [1], "a set of names and values"),
        ("comparison", {"epsilons": [1e9]}, "ε goes from"),
        ("astrology", {"phones": 1}, "There is no study 'astrology'"),
    ],
)
def test_it_refuses_what_makes_no_sense(ask, kind, parameters, sentence):
    with pytest.raises(Problem, match=sentence):
        ask(parameters, kind=kind)
    assert not Study.objects.exists()


def test_consumers_ask_for_nothing(ask, person):
    with pytest.raises(PermissionDenied):
        ask(actor=person("consumer"))


def test_a_person_has_a_few_under_way(ask, person, clock):
    mine = [ask() for _ in range(services.MOST_OWN)]
    with pytest.raises(Problem, match="3 of your studies are under way"):
        ask()
    services.cancel_study(study=mine[0], actor=person("operator"), clock=clock)
    ask()


def test_nobody_cancels_another_s_study_but_operators(ask, person, clock):
    study = ask()
    for role in ("analyst", "reviewer", "consumer"):
        with pytest.raises(PermissionDenied):
            services.cancel_study(study=study, actor=person(role), clock=clock)
    assert Study.objects.get().state == Study.State.WAITING
    services.cancel_study(study=study, actor=person("operator"), clock=clock)
    assert Study.objects.get().state == Study.State.CANCELLED


def test_all_people_have_a_few_more(ask, person):
    for _ in range(services.MOST // services.MOST_OWN):
        somebody = person("analyst")
        for _ in range(services.MOST_OWN):
            ask(actor=somebody)
    with pytest.raises(Problem, match="many studies"):
        ask()


def test_one_runs_at_a_time(ask, clock):
    first, second = ask(), ask()
    assert services.begin_study(study=first, clock=clock)
    assert not services.begin_study(study=second, clock=clock)
    assert selectors.next_waiting() is None
    assert selectors.place_in_line(second) == 1


def test_a_cancelled_study_stops_and_stays_cancelled(ask, ada, clock):
    study = ask()
    services.begin_study(study=study, clock=clock)
    services.cancel_study(study=study, actor=ada, clock=clock)
    working.work(study=Study.objects.get(pk=study.pk), clock=clock)
    study.refresh_from_db()
    assert (study.state, study.result) == (Study.State.CANCELLED, None)
    with pytest.raises(Conflict, match="over already"):
        services.cancel_study(study=study, actor=ada, clock=clock)


def test_a_study_is_cancelled_though_it_begins_or_waits_again_meanwhile(ask, ada, clock):
    shown = ask()
    services.begin_study(study=Study.objects.get(), clock=clock)
    services.cancel_study(study=shown, actor=ada, clock=clock)
    assert Study.objects.get().state == shown.state == Study.State.CANCELLED

    begun = ask()
    services.begin_study(study=begun, clock=clock)
    services.put_back(study=Study.objects.get(pk=begun.pk), clock=clock)
    services.cancel_study(study=begun, actor=ada, clock=clock)
    assert Study.objects.get(pk=begun.pk).state == Study.State.CANCELLED


def test_it_cannot_be_cancelled_when_it_ends_meanwhile(ask, ada, clock):
    shown = ask()
    services.begin_study(study=shown, clock=clock)
    services.finish_study(study=Study.objects.get(), result={}, clock=clock)
    with pytest.raises(Conflict, match="over already"):
        services.cancel_study(study=shown, actor=ada, clock=clock)
    assert Study.objects.get().state == Study.State.DONE


def test_a_study_whose_worker_died_is_marked(ask, clock):
    study = ask()
    services.begin_study(study=study, clock=clock)
    working.run_next_study(clock=clock, draining=lambda: True)
    assert Study.objects.get(pk=study.pk).state == Study.State.RUNNING
    long_ago = timezone.now() - timedelta(hours=1)
    Study.objects.filter(pk=study.pk).update(alive_at=long_ago)
    working.run_next_study(clock=clock, draining=lambda: True)
    study.refresh_from_db()
    assert (study.state, study.error) == (Study.State.FAILED, working.LOST)


def test_a_problem_becomes_its_sentence(ask, clock):
    study = ask()
    services.begin_study(study=study, clock=clock)
    study.parameters = {"phones": 7}
    working.work(study=study, clock=clock)
    study.refresh_from_db()
    assert study.error.startswith("The number of phones is a whole number from 20,000")


def test_our_own_mistakes_are_told_as_such(ask, clock):
    study = ask()
    services.begin_study(study=study, clock=clock)
    study.parameters = None
    working.work(study=study, clock=clock)
    study.refresh_from_db()
    assert study.error == working.FAULT


@pytest.mark.databases
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.update(parameters={"phones": 1}),
        lambda rows: rows.update(state="waiting"),
        lambda rows: rows.update(progress=0.5),
        lambda rows: rows._raw_delete(rows.db),
    ],
)
def test_what_is_over_is_kept_as_it_was(ask, ada, clock, change):
    study = ask()
    services.cancel_study(study=study, actor=ada, clock=clock)
    with pytest.raises(DatabaseError), transaction.atomic():
        change(Study.objects.filter(pk=study.pk))
    assert Study.objects.get(pk=study.pk).state == Study.State.CANCELLED
