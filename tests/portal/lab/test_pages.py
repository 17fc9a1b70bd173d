"""The lab's pages: asking, watching, exporting, comparing."""

import json
import re

import pytest
from django.urls import reverse

from portal.lab import services
from portal.lab.models import Study
from portal.lab.showing import page

REACH = {
    "constraints": [
        {"conditions": "idle", "where": "US", "span": "daily", "kind": "predicted",
         "paper": 42.0, "model": 42.4, "phones": 42.6}
    ],
    "ladder": {"rungs": [
        {"version": "0.2", "says": "SQLite", "kind": "predicted", "reach": 87.4,
         "paper_reach": 84.0, "error_increase": 45.0, "paper_error_increase": 83.0,
         "turned_away": 48.0, "unfinished": 3.0}
    ]},
}  # fmt: skip
ERRORS = {"num_trips": 0.029, "distance_km": 0.037, "duration_min": 0.035, "mean": 0.0337}
COMPARISON = {
    "target": 0.03,
    "paper": {"group_scaling_q98": ERRORS | {"num_trips": 0.028}},
    "results": [
        {"epsilon": e, "mechanisms": {"group_scaling_q98": ERRORS, "rotated": ERRORS | {"mean": m}}}
        for e, m in ((1.0, 0.0117), (2.0, 0.0073))
    ],
}  # fmt: skip


@pytest.fixture
def made(person, clock):
    """A study in the state, or with the result, that a test wants."""
    ada = person("analyst")

    def make(kind="reach", result=None, *, begun=False):
        study = services.ask_for_study(kind=kind, parameters={}, actor=ada, clock=clock)
        if begun or result:
            services.begin_study(study=study, clock=clock)
        if result:
            services.finish_study(study=study, result=result, clock=clock)
        return study

    return make


def content(answer):
    return " ".join(answer.content.decode().split())


def test_asking_leads_to_the_study(signed_in):
    client = signed_in("reviewer")
    answer = client.post("/lab/new/reach", {"phones": 20_000, "seed": 5}, follow=True)
    assert "This one is next." in content(answer)
    study = Study.objects.get()
    assert study.parameters == {"phones": 20_000, "seed": 5}
    assert f'href="/lab/{study.pk}"' in content(client.get("/lab"))


def test_several_numbers_are_read(signed_in):
    given = {"devices": 20_000, "epsilons": "0.5, 2", "seeds": "1 2", "people": "travellers"}
    signed_in("analyst").post("/lab/new/comparison", given)
    assert Study.objects.get().parameters["epsilons"] == [0.5, 2.0]


@pytest.mark.parametrize(
    ("kind", "given", "sentence"),
    [
        ("reach", {"phones": 5, "seed": 1}, "Write a whole number from 20,000 to 2,000,000."),
        ("reach", {"phones": 20_000, "seed": "x"}, "Write a whole number from 0 to 2,147,483,647."),
        ("comparison", {"devices": 20_000, "epsilons": "two", "seeds": "1"}, "Write numbers with"),
        (
            "comparison",
            {"devices": 20_000, "epsilons": "1e9", "seeds": "1", "people": "world"},
            "ε goes from 0.05 to 64 here",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_the_form(signed_in, kind, given, sentence):
    answer = signed_in("analyst").post(f"/lab/new/{kind}", given)
    assert answer.status_code == 400
    assert sentence in content(answer)
    assert not Study.objects.exists()


def test_names_with_commas_are_told_apart():
    named = ["joint_clipping", "group_scaling_q98", "rotated"]
    study = Study(parameters={"mechanisms": named, "epsilons": [0.5, 2.0], "seeds": [1, 2026]})
    assert page.asked(study) == [
        ("Mechanisms", "Joint Clipping; Group Scaling, q98; Rotated + ρ"),
        ("ε", "0.5, 2"),
        ("Seeds", "1, 2026"),
    ]


def test_only_those_with_tasks_get_in(signed_in):
    assert signed_in("consumer").get("/lab").status_code == 403
    assert signed_in("consumer").post("/lab/new/reach").status_code == 403


def test_a_study_under_way_is_asked_for_again_and_can_be_cancelled(signed_in, made):
    study, client = made(begun=True), signed_in("operator")
    services.note_progress(study_id=study.pk, share=0.42)
    page = content(client.get(f"/lab/{study.pk}"))
    assert 'hx-trigger="every 1s"' in page
    assert "42 %" in page
    page = content(client.post(f"/lab/{study.pk}/cancel", follow=True))
    assert "The study is cancelled." in page
    assert "hx-trigger" not in page.split('id="study"')[1].split(">")[0]
    assert "over already" in content(client.post(f"/lab/{study.pk}/cancel", follow=True))


def test_another_s_study_has_no_button_to_cancel_it(signed_in, made):
    study, client = made(begun=True), signed_in("analyst")
    assert "/cancel" not in content(client.get(f"/lab/{study.pk}"))
    assert client.post(f"/lab/{study.pk}/cancel").status_code == 403
    assert client.post(f"/api/v1/studies/{study.pk}/cancel").status_code == 403
    assert Study.objects.get().state == Study.State.RUNNING


def test_reach_is_shown_beside_the_paper(signed_in, made):
    page = content(signed_in("analyst").get(f"/lab/{made(result=REACH).pk}"))
    assert "87.4 %" in page
    assert "+83 %" in page
    assert "42.6 %" in page
    assert "<dt>Took</dt><dd>0 s</dd>" in page


def test_a_comparison_has_the_figure_and_the_table(signed_in, made):
    page = content(signed_in("analyst").get(f"/lab/{made('comparison', COMPARISON).pk}"))
    assert page.count("<svg xmlns") == 2
    assert "by metric at ε = 2" in page
    assert "2.90 %" in page
    assert "2.8 %" in page
    assert "0.73 %" in page
    assert not re.search(r"\b0\.0\d", page.split("by metric at")[1].split("</section>")[0])


def test_a_result_can_be_taken_away(signed_in, made):
    study, client = made(result=REACH), signed_in("analyst")
    lines = client.get(f"/lab/{study.pk}.csv").content.decode().splitlines()
    assert lines[0] == "table,row,column,value"
    assert "ladder,0.2,reach,87.4" in lines
    found = json.loads(client.get(f"/lab/{study.pk}.json").content)
    assert found["result"] == REACH
    assert found["parameters"] == {"phones": 200_000, "seed": 1}
    assert client.get(f"/lab/{made().pk}.csv").status_code == 404


def test_two_studies_stand_side_by_side(signed_in, made):
    first, second = made(result=REACH), made(result=REACH)
    client = signed_in("analyst")
    address = f"{reverse('compare_studies')}?first={first.pk}&second={second.pk}"
    page = content(client.get(address))
    assert "1.00" in page
    other = made("comparison", COMPARISON)
    answer = client.get(f"{reverse('compare_studies')}?first={first.pk}&second={other.pk}")
    assert answer.status_code == 400
    assert "two kinds" in content(answer)
    assert "no such study" in content(client.get("/lab/side-by-side?first=1&second=999999"))


@pytest.mark.parametrize("address", ["/lab/999", "/lab/99999999999999999999", "/lab/9.csv"])
def test_what_is_not_there_is_not_found(signed_in, address):
    assert signed_in("analyst").get(address).status_code == 404


def test_programs_ask_watch_and_cancel(signed_in):
    client = signed_in("analyst")
    body = {"kind": "reach", "parameters": {"phones": 20_000}}
    answer = client.post("/api/v1/studies", body, content_type="application/json")
    assert answer.status_code == 201
    pk = answer.json()["id"]
    assert client.get("/api/v1/studies?kind=reach").json()["results"][0]["id"] == pk
    assert client.get(f"/api/v1/studies/{pk}").json()["result"] is None
    assert client.post(f"/api/v1/studies/{pk}/cancel").json()["state"] == "cancelled"
    assert client.post(f"/api/v1/studies/{pk}/cancel").status_code == 409
    body["parameters"] = {"phones": "x"}
    answer = client.post("/api/v1/studies", body, content_type="application/json")
    assert answer.json()["error"]["message"].startswith("The number of phones is a whole number")
    assert client.get("/api/v1/studies/99999999999999999999").status_code == 404
