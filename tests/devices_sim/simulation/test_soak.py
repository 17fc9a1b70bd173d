"""A soak: the programme, its account, and the whole of it once in small."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from aggregation.errors import Problem
from aggregation.protocol.windows import Unit, Window
from devices_sim.device.once_only import Settle
from devices_sim.fleet.report import Report
from devices_sim.simulation.ledger import Ledger, verdict
from devices_sim.simulation.result import WindowResult
from devices_sim.simulation.soak_growth import memory_growth, swollen
from devices_sim.simulation.soak_programme import Act, What, programme
from devices_sim.simulation.soak_result import Diary, SoakResult
from tests.parts import ROOT, clean_environment

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
START = MONDAY - timedelta(hours=1)


def weeks(count: int) -> list[Window]:
    found = [Window.containing(MONDAY, Unit.WEEK)]
    while len(found) < count:
        found.append(found[-1].next())
    return found


@pytest.mark.parametrize("count", [6, 7, 8, 13, 26, 52])
def test_every_programme_has_all_there_is(count: int) -> None:
    acts = programme(START, weeks(count))
    assert {act.what for act in acts} == set(What)
    assert [act.at for act in acts] == sorted(act.at for act in acts)
    assert acts[0].at >= START
    assert acts[-1].at < weeks(count)[-1].end + timedelta(days=1)
    assert sum(act.is_refused for act in acts) == 2
    assert sum(act.what is What.ROTATE for act in acts) == max(1, (count + 1) // 6)


@pytest.mark.parametrize("count", [6, 7, 8, 13, 26, 52])
def test_a_task_is_started_before_anything_else_and_ended_after(count: int) -> None:
    found: dict[str, list[What]] = {}
    for act in programme(START, weeks(count)):
        if act.task:
            found.setdefault(act.task, []).append(act.what)
    for steps in found.values():
        assert steps[0] is What.START
        assert steps[-1] is What.END
        assert steps.count(What.START) == steps.count(What.END) == 1
        pauses = [step for step in steps if step in (What.PAUSE, What.RESUME)]
        assert pauses in ([], [What.PAUSE, What.RESUME])


@pytest.mark.parametrize("count", [6, 7, 8, 13, 26, 52])
def test_the_budget_is_short_exactly_where_the_programme_says_so(count: int) -> None:
    """By the sum of what runs, at every act that costs something."""
    running: dict[str, float] = {}
    for act in programme(START, weeks(count)):
        if act.what is What.END:
            running.pop(act.task, None)
        elif act.epsilon and "quality" not in act.task:  # that one is on the other stream
            cost = float(act.epsilon) * (7 if "rush" in act.task else 1)
            others = sum(cost for task, cost in running.items() if task != act.task)
            assert (others + cost > 4) is act.is_refused, act
            if not act.is_refused:
                running[act.task] = cost


def test_a_soak_takes_some_weeks() -> None:
    with pytest.raises(Problem, match="A soak has at least 6 weeks, not 5"):
        programme(START, weeks(5))


def result(**changes: Any) -> SoakResult:
    """All is well, but for what is changed."""
    facts: dict[str, Any] = {
        "states": {"released": 1},
        "skipped": {"The task was paused.": 1},
        "released": [["soak-split", "2026-11-16"]],
        "unsettled": 0,
        "not_once": 0,
        "ledger": [
            {"stream": "trips", "monday": "2026-11-16", "cap": 400, "reserved": 0, "spent": 250,
             "released": 150, "touched": 100},
        ],
        "left": {"receipts": 0},
        "not_sure": [],
        "chain": {"entries": 9, "problem": ""},
        "signed": {"checks": 5, "failed": 0},
    }  # fmt: skip
    facts.update(changes.pop("facts", {}))
    return SoakResult(
        scenario="soak", devices=3, weeks=6, diary=changes.pop("diary", Diary()), facts=facts,
        report=changes.pop("report", Report()), windows=changes.pop("windows", []),
        refused=changes.pop("refused", {}), seconds=1.0,
    )  # fmt: skip


def counted(*ids: int, told: int = 1) -> WindowResult:
    """Phones 0 and 1 sent the ids 10 and 11, and one of them was told that it is counted."""
    ledger, key = Ledger(), ("soak-split", "2026-11-16")
    for phone in (0, 1):
        ledger.note(key, phone=phone, update=f"{10 + phone:016x}", hours=1.0)
    if ids:
        ledger.heard(key[0], Settle(counted=(key[1],)), phone=told)
    in_sum = b"".join(each.to_bytes(8, "big") for each in ids)
    return WindowResult.of(*key, verdict(ledger.of(key), in_sum, phones=3), [])


REFUSED = Act(MONDAY, What.START, "soak-greedy", "1", is_refused=True)
PAUSED = Act(MONDAY, What.PAUSE, "soak-split")
SAID = "soak-greedy would cost trips ε 1 in 2026-W47, and 0.9 of 4 is left."


def flat(**tables: int) -> dict[str, Any]:
    return {"tables": {name: {"rows": 1, "bytes": size} for name, size in tables.items()}}


def test_all_is_well() -> None:
    fine = result(
        windows=[counted(10, 11)],
        diary=Diary(
            acts=[(REFUSED, SAID), (PAUSED, "")],
            memory={week: {"web": 100_000} for week in range(8)},
            sizes={week: flat(tasks_population=4096) for week in range(8)},
        ),
    )
    assert fine.failures() == []
    assert SAID in "\n".join(fine.lines())
    lost = result(windows=[counted(11)])
    assert lost.failures() == []
    assert "       1  no word of it came" in "\n".join(lost.lines())
    assert json.loads(fine.json())["failures"] == []


@pytest.mark.parametrize(
    ("broken", "name"),
    [
        (result(facts={"unsettled": 1}), "neither released nor skipped"),
        (result(facts={"not_once": 1}), "released twice"),
        (result(facts={"skipped": {"": 1}}), "without a reason"),
        (result(diary=Diary(acts=[(REFUSED, "")])), "amiss"),
        (result(diary=Diary(acts=[(REFUSED, "The page answered 500.")])), "amiss"),
        (result(diary=Diary(acts=[(PAUSED, "It is not active.")])), "amiss"),
        (result(facts={"left": {"receipts": 2}}), "left: receipts"),
        (result(facts={"not_sure": ["Queues are in memory only"]}), "no update is at rest"),
        (result(facts={"chain": {"entries": 9, "problem": "Entry 3 is missing."}}), "audit chain"),
        (result(facts={"signed": {"checks": 5, "failed": 1}}), "checks of releases"),
        (result(windows=[counted(10, 10, 11)]), "double counts"),
        (result(windows=[counted(11, told=0)]), "said to be counted, and lost"),
        (result(windows=[counted()]), "seen to count"),
        (result(windows=[counted(10, 11, 99)]), "hostile parts"),
        (result(report=Report(bad=Counter(bad_token=3))), "never refused"),
    ],
)  # fmt: skip
def test_each_fault_shows(broken: SoakResult, name: str) -> None:
    (failure,) = broken.failures()
    assert name in failure


@pytest.mark.parametrize(
    ("week", "name"),
    [
        ({"spent": 251}, "spent is not what releases cost"),
        ({"spent": 450, "released": 350}, "above the cap"),
        ({"reserved": 1}, "still reserved"),
    ],
)
def test_a_ledger_that_does_not_add_up_shows(week: dict[str, int], name: str) -> None:
    base = result().facts["ledger"][0]
    assert any(name in each for each in result(facts={"ledger": [{**base, **week}]}).failures())


def test_a_table_that_grows_without_a_reason_shows() -> None:
    sizes = {
        week: flat(audit_entry=10**6 * week, django_session=10**5 * week, tasks_population=4096)
        for week in range(1, 6)
    }
    assert swollen(sizes) == ["django_session"]


def test_few_weeks_tell_nothing_of_memory() -> None:
    assert memory_growth({week: {"jobs": 90_000 * week} for week in range(8)}) == {}


def test_memory_that_grows_shows() -> None:
    grown = memory_growth({week: {"web": 90_000, "jobs": 9_000 * week} for week in range(1, 13)})
    assert [name for name, each in grown.items() if each.grows] == ["jobs"]


@pytest.fixture
def folder(prepared_data: Path, tmp_path: Path) -> Iterator[Path]:
    """A data folder with what is the same for all systems."""
    for name in ("streams", "static"):
        shutil.copytree(prepared_data / name, tmp_path / "data" / name)
    yield tmp_path / "data"
    shutil.rmtree(tmp_path / "data", ignore_errors=True)


@pytest.mark.solo
def test_it_works(folder: Path, size: str) -> None:
    """The whole programme: at everyday size through six weeks, at full size through a year."""
    devices, count = ("5000", "52") if size == "full" else ("250", "6")
    command = ["simulate", "--scenario", "soak", "--devices", devices, "--weeks", count]
    # It has a data folder of its own, whatever the settings of whoever calls it say.
    env = {**clean_environment(), "MAYFLY_DATA": str(folder.with_name("not-this-one"))}
    done = subprocess.run(
        [sys.executable, "manage.py", *command, "--data", str(folder), "--json"],
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=4 * 3600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["failures"] == []
    said = [act["refused"] for act in found["acts"] if act["refused"]]
    assert len(said) == 2
    assert all("would cost trips" in each for each in said)
    assert {
        "The task was paused during this window.",
        "The task was ended during this window.",
    } <= (set(found["windows_skipped"]))
    tasks = {window["task"] for window in found["windows"]}
    assert {"soak-split", "soak-quality", "soak-cycling", "soak-rush", "soak-lengths"} <= tasks
    assert found["bad_updates_sent"]
