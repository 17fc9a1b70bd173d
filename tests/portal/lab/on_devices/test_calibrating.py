"""From a task to its calibrations and back: through review, ledger, sessions and releases."""

from decimal import Decimal

import msgspec
import numpy as np
import pytest

from aggregation.errors import Problem
from aggregation.ondevice.events import Event
from aggregation.ondevice.execute import PreparedTask
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.ids import fresh_update_id
from aggregation.protocol.spec_reading import read_spec
from aggregation.protocol.update import Shape, pack
from aggregation.protocol.windows import Unit, Window
from aggregation.release.noised import Noised
from portal.accounts.models import Person
from portal.audit.models import Entry
from portal.lab.on_devices import services
from portal.lab.on_devices.reading import scales_from
from portal.lab.on_devices.selectors import calibrations_of, drafts_of, subject_of
from portal.ledger.models import Charge
from portal.releases import running as rendering
from portal.streams.selectors import installed_catalog
from portal.tasks import running
from portal.tasks.models import Draft, Task
from portal.tasks.provenance import provenance_of
from tests.portal.lab.on_devices.conftest import NAME
from tests.portal.lab.on_devices.crowd import LOWEST, MEDIANS, norms

BUCKET = 2**0.25
PAGE = f"/lab/on-phones/{NAME}"


def ask(task, clock, epsilon="1", by=None):
    return services.ask_for_scales(
        subject=subject_of(task),
        by=("activity",),
        epsilon=Decimal(epsilon),
        actor=by or Person.objects.get(username="ada"),
        clock=clock,
    )


def writers(task) -> set[Person]:
    return {editor.person for editor in task.editors.select_related("person")}


def phone(number: int, day: Window) -> list[Event]:
    """A few drives, and for every other phone a bus."""
    kinds = ["driving"] * (1 + number % 4) + ["bus"] * (number % 2)
    moment = day.start.timestamp() + 3600
    return [Event(moment, 0, ("1001", "DE", kind, "within", 8.0, 16.0)) for kind in kinds]


def test_phones_answer_like_any_task_and_too_few_are_refused(
    collecting, task, clock, approved, released
):
    """30 phones at ε = 2.5: summed in a session, noised, charged once, and no fit."""
    revision = approved(ask(task, clock, "2.5").name)
    charges = Charge.objects.filter(task=revision.task.name)
    assert [(c.window, c.amount, c.state) for c in charges] == [("2026-11-19", 250, "reserved")]
    day = Window.parse("2026-11-19", Unit.DAY)
    collecting.revision = revision
    collecting.go_to("2026-11-19T00:00:00")
    collecting.go_to("2026-11-20T00:00:00")
    session = collecting.opened()
    client_task = msgspec.json.decode(revision.client_task_json, type=ClientTask)
    prepared = PreparedTask(client_task, installed_catalog())
    truth = np.zeros(client_task.cells, dtype=np.int64)
    for number in range(30):
        part = prepared.execute({"trips": phone(number, day)}, day)
        truth[part.ranks] += part.values[:, 0]
        plain = pack({day: part}, Shape.of(client_task))
        assert collecting.push(session, fresh_update_id(), plain)
    collecting.taken(session, 30)

    release = released(revision, "2026-11-22T00:00:00")
    noise = Noised.decode(bytes(release.noised)).sums[:, 0] - truth
    assert 0 < abs(noise).max() < 50 * 2**20
    assert truth.sum() == pytest.approx(30 * 2**20, rel=1e-4)
    assert [(c.amount, c.state) for c in charges.all()] == [(250, "spent")]
    assert running.end_if_over(task=revision.task, clock=clock)
    assert Task.objects.get(pk=revision.task_id).state == "ended"
    (found,) = calibrations_of(subject_of(task))
    with pytest.raises(Problem, match=r"ε · N is about < 1,000, and 100,000 are needed"):
        scales_from(found, {})


@pytest.mark.usefixtures("crowded")
def test_two_releases_give_a_mechanism(task, approved, released, client):
    """The whole way on the page, for a crowd of devices that is known."""
    assert client.get(PAGE).status_code == 200
    asked = client.post(f"{PAGE}/scales", {"epsilon": "0.5", "by": ["activity"]})
    assert asked["Location"] == f"/tasks/{NAME}-scales/edit"
    assert f"{NAME}-scales" in client.get(PAGE).content.decode()
    released(approved(f"{NAME}-scales"), "2026-11-22T00:00:00")
    assert "Draft the task for the clip" in client.get(PAGE).content.decode()
    rendering.render_releases()
    said = client.get(f"/releases/{NAME}-scales/2026-11-19").content.decode()
    assert "phones, each counted once, by how much it has." in said

    asked = client.post(f"{PAGE}/clip", {"epsilon": "0.5", "scales": f"{NAME}-scales"})
    assert asked["Location"] == f"/tasks/{NAME}-clip/edit"
    said = read_spec(Draft.objects.get(task__name=f"{NAME}-clip").text).description
    assert said.endswith(f"Its scales come from the release of {NAME}-scales 2026-11-19")
    released(approved(f"{NAME}-clip"), "2026-11-26T00:00:00")
    used = client.post(f"{PAGE}/use", {"clip": f"{NAME}-clip", "quantile": "97.5"})
    assert used["Location"] == f"/tasks/{NAME}/edit"

    draft = Draft.objects.get(task=task)
    spec = read_spec(draft.text)
    mechanism = spec.anonymization.mechanism
    assert spec.anonymization.clip_uncertainty is None
    assert 1 / BUCKET < mechanism.clip / np.quantile(norms(0.8, 0), 0.975) < BUCKET
    activities = list(mechanism.scales)
    for place, medians in MEDIANS.items():
        for m, metric in enumerate(("num_trips", "distance_km")):
            truth = np.quantile(norms(medians[m], m), 0.95)
            assert 1 / BUCKET < mechanism.scales[activities[place]][metric] / truth < BUCKET
    # Nobody runs: it has borrowed the largest.
    assert mechanism.scales["running"] == mechanism.scales["driving"]
    assert Entry.objects.filter(action="task.calibrated", object_id=str(task.pk)).count() == 1
    told = provenance_of(approved(NAME))
    assert told.facts["kind"] == "devices, with differential privacy"


@pytest.mark.usefixtures("crowded")
def test_its_provenance_names_both_releases(task, clock, approved, released):
    ada = Person.objects.get(username="ada")
    first = released(approved(ask(task, clock).name), "2026-11-22T00:00:00")
    subject = subject_of(task)
    made = services.ask_for_clip(
        subject=subject,
        scaled=calibrations_of(subject)[0],
        epsilon=Decimal(1),
        actor=ada,
        clock=clock,
    )
    second = released(approved(made.name), "2026-11-26T00:00:00")
    clipped = calibrations_of(subject)[0]
    found = services.result_of(subject, clipped, quantile=0.98, clock=clock).provenance
    assert found["kind"] == "devices, with differential privacy"
    assert found["date"] == "2026-11-26"
    assert [one["noised_sha256"] for one in found["releases"]] == [
        first.noised_sha256,
        second.noised_sha256,
    ]
    assert found["fit_quality"]["devices"] == "300,000"
    assert "too few devices for num_trips in running" in found["fit_quality"]["scales"]
    scales = calibrations_of(subject)[1]
    with pytest.raises(Problem, match="tells scales"):
        services.result_of(subject, scales, quantile=0.98, clock=clock)


@pytest.mark.usefixtures("crowded")
def test_who_wrote_what_a_draft_is_made_of_has_written_in_it(
    task, clock, approved, released, person
):
    ada, bob, eve = (Person.objects.get(username="ada"), person("analyst"), person("analyst"))
    scales = ask(task, clock, by=bob)
    assert writers(scales) == {ada, bob}
    released(approved(scales.name), "2026-11-22T00:00:00")
    subject = subject_of(task)
    (scaled,) = calibrations_of(subject)
    given = {"subject": subject, "epsilon": Decimal(1), "clock": clock}
    clip = services.ask_for_clip(scaled=scaled, actor=eve, **given)
    assert writers(clip) == {ada, bob, eve}
    released(approved(clip.name), "2026-11-26T00:00:00")
    clipped = calibrations_of(subject)[0]
    assert writers(task) == {ada}
    services.put_into_draft(subject=subject, clipped=clipped, quantile=0.98, actor=ada, clock=clock)
    assert writers(task) == {ada, bob, eve}


def test_the_draft_is_the_task_s_own_question(task, clock):
    spec = read_spec(Draft.objects.get(task=ask(task, clock)).text)
    own = subject_of(task).spec
    assert (spec.client_sql, spec.server_sql, spec.window) == (
        own.client_sql,
        own.server_sql,
        own.window,
    )
    assert spec.step.lowest == dict(zip(("num_trips", "distance_km"), LOWEST, strict=True))
    assert (spec.aggregation.max_rows, spec.publish.audience) == (18, "internal")
    assert ask(task, clock).name == f"{NAME}-scales-2"


@pytest.mark.databases
def test_another_question_s_calibration_is_not_this_one_s(task, clock, approved):
    assert drafts_of(subject_of(task)) == []
    asked = ask(task, clock)
    assert drafts_of(subject_of(task)) == [asked]
    approved(asked.name)
    assert drafts_of(subject_of(task)) == []
    assert len(calibrations_of(subject_of(task))) == 1
    draft = Draft.objects.get(task=task)
    draft.text = draft.text.replace("FROM trips GROUP", "FROM trips WHERE distance_km > 1 GROUP")
    draft.save()
    assert calibrations_of(subject_of(task)) == []


@pytest.mark.parametrize(
    ("address", "given", "says"),
    [
        ("scales", {"epsilon": "9"}, "less than or equal to 8"),
        ("scales", {"epsilon": "much"}, "Enter a number"),
        ("scales", {"epsilon": "1", "by": ["planet"]}, "not one of the available choices"),
        ("use", {"clip": "x", "quantile": "100"}, "less than or equal to 99.99"),
    ],
)
def test_bad_input_gets_a_sentence(task, client, address, given, says):
    answer = client.post(f"{PAGE}/{address}", given, follow=True)
    assert says in answer.content.decode()
    assert Task.objects.count() == 1


def test_what_does_not_calibrate_it_is_not_found(task, client):
    assert client.post(f"{PAGE}/clip", {"epsilon": "1", "scales": NAME}).status_code == 404
    assert client.get("/lab/on-phones/nothing").status_code == 404


def test_a_calibration_is_not_calibrated(task, clock, client):
    page = client.get(f"/lab/on-phones/{ask(task, clock).name}").content.decode()
    assert "calibrates another task itself" in page


def test_a_draft_that_cannot_be_read_gets_a_sentence(task, client):
    Draft.objects.filter(task=task).update(text="name: [")
    assert client.get(PAGE).status_code == 200
