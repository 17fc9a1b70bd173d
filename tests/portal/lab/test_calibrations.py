"""Calibrations: loaded, put into a draft with one click, and told to whoever reviews it."""

import json
from datetime import timedelta

import msgspec
import pytest
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, transaction

from aggregation.compiler import compile_spec
from aggregation.errors import Problem
from aggregation.protocol.spec_reading import read_spec
from portal.audit.models import Entry
from portal.lab import services, using
from portal.lab.models import Study
from portal.tasks import services as tasks
from portal.tasks.models import Provenance
from portal.tasks.provenance import provenance_of
from portal.tasks.starting_points import starting_point
from tests.portal.tasks.conftest import PASSWORD

TEXT = starting_point("weekly-trips").text


@pytest.fixture
def ada(person):
    return person("analyst", username="ada")


@pytest.fixture
def task(catalog, ada, clock):
    catalog.write(settings.DATA / "streams")
    return tasks.create_task(name="weekly-trips", text=TEXT, actor=ada, clock=clock)


@pytest.fixture
def result(catalog):
    """As `manage.py calibrate` writes it, for the starting point over the tests' regions."""
    spec = read_spec(TEXT)
    config = compile_spec(spec, catalog).server_config
    mechanism = msgspec.to_builtins(spec.anonymization.mechanism)
    return {
        "version": 1,
        "keys": [[key.name, key.domain] for key in config.keys],
        "metrics": list(config.metrics),
        "mechanism": {**mechanism, "clip": 4.25},
        "provenance": {
            "kind": "public",
            "source": "A travel survey",
            "data_sha256": "a" * 64,
            "seed": None,
            "date": "2026-11-16T12:00:00+00:00",
            "devices": 120_000,
            "window": "2026-11-02",
            "epsilon": 2.0,
            "fit": "group_scaling_grid",
            "quality": {
                "by_metric": dict.fromkeys(config.metrics, 0.014),
                "mean": 0.014,
                "best_scaling": 0.014,
                "on_others": True,
                "least_devices": 2000,
            },
            "per_event": {"driving": {"distance_km": 11.0, "duration_min": 19.0}},
        },
    }


@pytest.fixture
def loaded(ada, clock):
    def load(result):
        return services.load_study(text=json.dumps(result), actor=ada, clock=clock)

    return load


@pytest.fixture
def made_here(ada, clock):
    """As if the lab had computed it."""

    def make(result, task="weekly-trips"):
        asked = {"task": task}
        study = services.ask_for_study(kind="calibration", parameters=asked, actor=ada, clock=clock)
        services.begin_study(study=study, clock=clock)
        services.finish_study(study=study, result=result, clock=clock)
        return study

    return make


@pytest.fixture
def put(task, result, loaded, ada, clock):
    return lambda: using.put_into_draft(study=loaded(result), task=task, actor=ada, clock=clock)


def content(answer):
    return " ".join(answer.content.decode().split())


def test_what_clipping_may_take_comes_along(task, result, loaded, ada, clock):
    terms = {"random": 1.5, "together": 1, "systematic": 0.02, "alike": 0}
    metrics = dict.fromkeys(result["metrics"], terms)
    given = {"count": "num_trips", "metrics": metrics, "source": "A travel survey"}
    study = loaded({**result, "clip_uncertainty": given})
    using.put_into_draft(study=study, task=task, actor=ada, clock=clock)
    task.draft.refresh_from_db()
    found = read_spec(task.draft.text).anonymization.clip_uncertainty
    assert found.source == "A travel survey"
    assert float(found.metrics["num_trips"].random) == 1.5


def test_it_works(task, result, signed_in, ada):
    client = signed_in(who=ada)
    page = client.post("/lab/load", {"text": json.dumps(result)}, follow=True)
    study = Study.objects.get()
    assert (study.kind, study.state, study.is_loaded) == ("calibration", "done", True)
    assert "Put it into weekly-trips" in content(page)
    answer = client.post(f"/lab/{study.pk}/use", {"task": "weekly-trips"}, follow=True)
    assert "The draft has these parameters." in content(answer)
    task.draft.refresh_from_db()
    assert "clip: 4.25" in task.draft.text
    assert "clip_uncertainty" not in task.draft.text
    client.post("/tasks/weekly-trips/edit", edit(task.draft, action="submit"))
    page = content(signed_in("reviewer").get(f"/review/{task.revisions.get().pk}"))
    assert "Where the parameters come from" in page
    assert "A travel survey" in page
    assert "a" * 64 in page
    assert f"loaded by ada as study {study.pk}, and not computed here" in page
    assert "expected error 1.40 % (num_trips 1.40 %" in page
    names = list(Entry.objects.values_list("action", flat=True))
    assert {"study.loaded", "study.used"} <= set(names)


def edit(draft, **given):
    return {"text": draft.text, "version": draft.version, **given}


def test_what_the_lab_computed_is_told_as_such(task, result, made_here, ada, clock):
    study = made_here(result)
    using.put_into_draft(study=study, task=task, actor=ada, clock=clock)
    assert Provenance.objects.get().facts["made"] == f"in this lab, as study {study.pk}"


@pytest.fixture
def put_by_bob(task, person, clock):
    """Ada's study, in a draft that is bob's; and who has written in that."""

    def do(study):
        bob = person("analyst", username="bob")
        own = tasks.create_task(name="bob-s", text=TEXT, actor=bob, clock=clock)
        using.put_into_draft(study=study, task=own, actor=bob, clock=clock)
        return set(own.editors.values_list("person__username", flat=True))

    return do


def test_who_loaded_it_has_written_in_the_draft(result, loaded, put_by_bob):
    assert put_by_bob(loaded(result)) == {"ada", "bob"}


def test_what_the_lab_computed_was_written_by_nobody(result, made_here, put_by_bob):
    assert put_by_bob(made_here(result)) == {"bob"}


@pytest.fixture
def forged(result, clock):
    """The same numbers, with a better story: loaded by somebody else."""

    def load(who):
        told = {**result["provenance"], "source": "A census"}
        text = json.dumps({**result, "provenance": told})
        return services.load_study(text=text, actor=who, clock=clock)

    return load


@pytest.fixture
def told_again(task, forged, person, clock):
    """Mallory puts them into a draft of her own that has these very numbers already."""

    def put():
        mallory = person("analyst", "reviewer", username="mallory")
        own = tasks.duplicate_task(task=task, name="own", actor=mallory, clock=clock)
        using.put_into_draft(study=forged(mallory), task=own, actor=mallory, clock=clock)
        return mallory

    return put


@pytest.fixture
def submitted(task, clock):
    def submit():
        task.draft.refresh_from_db()
        given = {"actor": task.created_by, "clock": clock}
        return tasks.submit(task=task, version=task.draft.version, **given)

    return submit


def test_a_review_tells_what_was_noted_when_it_was_submitted(
    put, submitted, told_again, signed_in, clock
):
    """What is noted later is of the next revision, whichever draft it was put into."""
    put()
    first = submitted()
    clock.advance(timedelta(seconds=1))
    told_again()
    second = submitted()
    client = signed_in("reviewer")
    sources = ("A travel survey", "A census")
    for revision, source, other in ((first, *sources), (second, *reversed(sources))):
        page = content(client.get(f"/review/{revision.pk}"))
        assert source in page
        assert other not in page


def test_who_notes_it_again_has_written_in_the_draft(task, result, made_here, person, clock):
    """Though the draft's text stays what it was."""
    study, bob = made_here(result), person("analyst")
    given = {"study": study, "task": task, "clock": clock}
    first = using.put_into_draft(actor=task.created_by, **given)
    assert using.put_into_draft(actor=bob, **given) == first
    assert task.editors.filter(person=bob).exists()


def test_who_noted_it_elsewhere_does_not_approve_it(put, submitted, told_again, clock):
    put()
    mallory = told_again()
    revision = submitted()
    assert provenance_of(revision).noted_by == mallory
    with pytest.raises(PermissionDenied, match="written in this task"):
        tasks.approve(
            revision=revision,
            seen=revision.content_sha256,
            password=PASSWORD,
            comment="",
            actor=mallory,
            clock=clock,
        )


def test_what_the_lab_computed_for_another_query_is_not_put_in(
    task, result, made_here, signed_in, clock
):
    """Whoever asks for a study writes its query: one in metres has scales a thousand times as
    large, and the same keys and metrics."""
    metres = TEXT.replace("SUM(distance_km) AS", "SUM(distance_km * 1000) AS", 1)
    ada, study = task.created_by, made_here(result, metres)
    page = content(signed_in(who=ada).get(f"/lab/{study.pk}"))
    assert "It was fitted for another query, or for another number of rows." in page
    assert "Put it into weekly-trips" not in page
    with pytest.raises(Problem, match="another query"):
        using.put_into_draft(study=study, task=task, actor=ada, clock=clock)
    task.draft.refresh_from_db()
    assert task.draft.text == TEXT


def test_what_the_lab_computed_for_more_rows_of_a_device_is_not_put_in(
    task, result, made_here, ada, clock
):
    """Where fewer rows are taken, more is cut: the clip uncertainty would be told too small."""
    fewer = TEXT.replace("max_rows: 64", "max_rows: 8")
    assert fewer != TEXT
    with pytest.raises(Problem, match="another number of rows"):
        using.put_into_draft(study=made_here(result, fewer), task=task, actor=ada, clock=clock)


def test_what_phones_compute_counts_and_not_how_it_is_written(task, result, made_here, ada, clock):
    study = made_here(result, TEXT.replace("SELECT region, activity", "select region,  activity"))
    assert using.put_into_draft(study=study, task=task, actor=ada, clock=clock) == 2


def test_what_ships_is_told_as_such(task, signed_in, ada, clock):
    revision = tasks.submit(task=task, version=1, actor=ada, clock=clock)
    page = content(signed_in("reviewer").get(f"/review/{revision.pk}"))
    assert "The demo&#x27;s made-up world: 30,000 phones in 24 cities" in page
    assert "<dt>Made</dt><dd>with the program</dd>" in page
    assert not Provenance.objects.exists()


def test_what_was_changed_by_hand_was_typed_by_hand(put, task, signed_in, clock):
    put()
    ada = task.created_by
    task.draft.refresh_from_db()
    text = task.draft.text.replace("clip: 4.25", "clip: 4.5")
    tasks.save_draft(task=task, text=text, base_version=task.draft.version, actor=ada, clock=clock)
    task.draft.refresh_from_db()
    revision = tasks.submit(task=task, version=task.draft.version, actor=ada, clock=clock)
    page = content(signed_in("reviewer").get(f"/review/{revision.pk}"))
    assert "These parameters were typed by hand" in page
    assert "A travel survey" not in page


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda r: r["provenance"].update(epsilon=1.0), "fitted for ε = 1"),
        (lambda r: r.update(keys=r["keys"][:1]), "fitted for the keys"),
        (lambda r: r["mechanism"]["scales"].pop("bus"), "bus"),
        (lambda r: r["mechanism"].update(scales={}), "walking"),
    ],
)
def test_it_refuses_a_draft_that_does_not_fit(put, result, change, sentence):
    change(result)
    with pytest.raises(Problem, match=sentence):
        put()
    study = Study.objects.get()
    assert using.drafts_for(study=study, person=study.asked_by)[0].reasons
    assert not Provenance.objects.exists()


@pytest.mark.parametrize("text", ["", "{", '{"version": 1}', "[1]", "null", "x" * 10])
def test_it_refuses_what_is_no_result(signed_in, text):
    answer = signed_in("analyst").post("/lab/load", {"text": text})
    assert answer.status_code == 400
    assert not Study.objects.exists()


def test_it_refuses_a_source_that_is_drawn_as_another(result, loaded):
    result["provenance"]["source"] = "A travel \u202esurvey"
    with pytest.raises(Problem, match=r"U\+202E RIGHT-TO-LEFT OVERRIDE stands in 'A travel "):
        loaded(result)
    assert not Study.objects.exists()


def test_two_stand_side_by_side_however_they_were_asked_for(result, loaded, made_here, signed_in):
    """A loaded one has other parameters than one that was asked for: each by its name."""
    here, there = made_here(result), loaded(result)
    page = content(signed_in("analyst").get(f"/lab/side-by-side?first={here.pk}&second={there.pk}"))
    assert '<th scope="row">Task</th><td>weekly-trips</td><td>–</td>' in page
    assert '<th scope="row">Source</th><td>–</td><td>A travel survey</td>' in page


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["mechanism"]["scales"]["bus"].pop("distance_km"),
        lambda r: r.update(mechanism={"kind": "rotated", "by": [], "basis": {"all": [[1]]},
                                      "correction": {}}),
    ],
)  # fmt: skip
def test_it_refuses_what_no_page_could_show(signed_in, result, change):
    change(result)
    answer = signed_in("analyst").post("/lab/load", {"text": json.dumps(result)})
    assert answer.status_code == 400
    assert "do not cover all its metrics, or all its slices" in content(answer)


def test_a_draft_that_cannot_be_read_is_told(task, result, loaded, ada, clock):
    tasks.create_task(name="half-written", text="name: half-written", actor=ada, clock=clock)
    found = using.drafts_for(study=loaded(result), person=ada)
    assert [one.task.name for one in found] == ["weekly-trips", "half-written"]
    assert found[1].reasons


def test_only_analysts_put_it_into_drafts(task, result, loaded, signed_in):
    study, client = loaded(result), signed_in("reviewer")
    assert "Analysts put a calibration" in content(client.get(f"/lab/{study.pk}"))
    assert client.post(f"/lab/{study.pk}/use", {"task": task.name}).status_code == 403


def test_a_calibration_keeps_the_draft_it_was_asked_for(task, signed_in, ada):
    given = {"task": "weekly-trips", "fit": "rotated", "devices": 20_000, "seed": 1}
    page = signed_in(who=ada).post("/lab/new/calibration", given, follow=True)
    assert Study.objects.get().parameters["task"] == TEXT
    assert "<dt>Task</dt><dd>weekly-trips</dd>" in content(page)


def test_programs_load_results(result, signed_in):
    client = signed_in("analyst")
    body = {"text": json.dumps(result)}
    answer = client.post("/api/v1/studies/load", body, content_type="application/json")
    assert answer.status_code == 201
    answer = client.post("/api/v1/studies/load", {"text": "{"}, content_type="application/json")
    assert answer.json()["error"]["message"].startswith("This is no calibration's result")


@pytest.mark.databases
def test_a_provenance_is_never_changed(put):
    put()
    with pytest.raises(DatabaseError), transaction.atomic():
        Provenance.objects.update(facts={})
    with pytest.raises(DatabaseError), transaction.atomic():
        Provenance.objects.all()._raw_delete("default")
