"""A soak: the whole system through a year of work, then an account of it.

People write, approve, pause, change and end tasks as the programme says, operators rotate keys,
phones live, some of them hostile. The clock moves on when everything that is due is done.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aggregation.protocol.windows import Unit, Window
from devices_sim.simulation.errors import Error, errors_of
from devices_sim.simulation.fleet import Fleet
from devices_sim.simulation.ledger import Ledger, counted_ids, verdict
from devices_sim.simulation.plan import KEYS, Plan
from devices_sim.simulation.progress import Progress
from devices_sim.simulation.result import WindowResult, joined
from devices_sim.simulation.run import give_time, populations_of
from devices_sim.simulation.shard import Stepped
from devices_sim.simulation.soak_people import People, Refused
from devices_sim.simulation.soak_programme import (
    KEY_KINDS,
    SPLIT,
    STARTING_POINTS,
    Act,
    What,
    programme,
)
from devices_sim.simulation.soak_result import Diary, SoakResult
from devices_sim.simulation.soak_system import SoakSystem

# Phones that wake on the same civil day wake together: a year has many days.
_STEP_SECONDS: Final = 86_400.0
# After the last grace: what expires a week or more later has expired.
_AFTERWARDS: Final = timedelta(days=12)
# Machine seconds in which the system clears away what has expired.
_CLEARING_SECONDS: Final = 120.0


def soak(plan: Plan, progress: Progress) -> SoakResult:
    began = time.monotonic()
    acts = programme(plan.start, plan.windows)
    system = SoakSystem(plan)
    progress.say(f"preparing {plan.data}")
    system.prepare(populations_of(plan))
    with system:
        system.await_ready()
        progress.say(f"{plan.scenario.phones:,} phones through {plan.weeks} weeks of work")
        with Fleet(plan) as fleet:
            year = _Year(plan, system, fleet, Diary(), progress)
            year.live(acts)
            progress.say("accounting for it")
            result = year.result()
    result.seconds = time.monotonic() - began
    return result


@dataclass(frozen=True)
class _Year:
    plan: Plan
    system: SoakSystem
    fleet: Fleet
    diary: Diary
    progress: Progress

    def live(self, acts: list[Act]) -> None:
        people, waiting = People(self.plan.url), list(acts)
        moment, end = self.plan.start, self.plan.end + timedelta(days=1)
        last = Stepped(moment.timestamp(), 0, 0, 0, 0)
        while moment < end:
            while waiting and waiting[0].at <= moment:
                self._act(waiting.pop(0), people)
            due = self.system.settle()
            began, before = time.monotonic(), last
            last = self.fleet.step(moment.timestamp())
            give_time(before, last, began)
            self.progress.at(moment, wake_ups=last.wake_ups, sent=last.sent)
            self._measure(moment)
            at = waiting[0].at.timestamp() if waiting else math.inf
            moment = _next_moment(moment, end, (at, due), last.next_due)
            self.system.clock.set(moment)
            self.system.check()

    def _act(self, act: Act, people: People) -> None:
        said = ""
        if act.what in (What.ANNOUNCE, What.ROTATE):
            self._rotate(["--announce"] if act.what is What.ANNOUNCE else [])
        else:
            try:
                people.do(act)
            except Refused as refused:
                said = str(refused)
        self.diary.acts.append((act, said))
        words = f"{act.at:%Y-%m-%d %H:%M}: {act}"
        self.progress.say(f"{words}: refused: {said}" if said else words)

    def _rotate(self, step: list[str]) -> None:
        """At an operator's terminal; then phones are updated."""
        self.system.operate("rotate_keys", *KEY_KINDS, "--by", "operator", *step)
        self.fleet.update_phones()

    def _measure(self, moment: datetime) -> None:
        """Once a week, memory; about ten times, what tables and files have grown to."""
        plan, diary = self.plan, self.diary
        week = (moment - plan.windows[0].start) // timedelta(weeks=1)
        if week < 0 or week in diary.memory:
            return
        diary.memory[week] = self.system.memory()
        if week % max(1, plan.weeks // 10) == 0:
            diary.sizes[week] = self.system.ask("sizes")
        total = sum(diary.memory[week].values()) / 1000
        self.progress.say(f"week {week} begins; {total:,.0f} MB in all processes")

    def result(self) -> SoakResult:
        plan, finished = self.plan, self.fleet.finish()
        ledger = Ledger()
        for each in finished:
            ledger.add(each.ledger)
        facts = self._cleared()
        told = self.system.exact_counts()
        return SoakResult(
            scenario=plan.scenario.name,
            devices=plan.scenario.phones,
            weeks=plan.weeks,
            report=joined([each.report for each in finished]),
            diary=self.diary,
            windows=self._windows(ledger, told["counted"], facts["released"]),
            facts=facts,
            refused=told["refused"],
        )

    def _cleared(self) -> dict[str, Any]:
        """What is left, once everything has expired and there was time to clear it away."""
        self.system.clock.advance(_AFTERWARDS)
        self.system.settle(with_files=True)
        deadline = time.monotonic() + _CLEARING_SECONDS
        while any((facts := self.system.ask("facts"))["left"].values()):
            if time.monotonic() > deadline:
                break
            time.sleep(1.0)
        return facts

    def _windows(
        self, ledger: Ledger, counted: dict[str, dict[str, str]], released: list[list[str]]
    ) -> list[WindowResult]:
        """What became of everything that was sent for a released window."""
        phones, found = self.plan.scenario.phones, []
        for task, window in released:
            key = (task, window)
            fate = verdict(ledger.of(key), counted_ids(counted, key), phones=phones)
            errors = self._errors(window, fate.contributed) if task == SPLIT else []
            found.append(WindowResult.of(task, window, fate, errors))
        return found

    def _errors(self, window: str, contributed: NDArray[np.bool_]) -> list[Error]:
        week = Window.parse(window, Unit.WEEK)
        truth = self.fleet.truth(week, KEYS[STARTING_POINTS[SPLIT]], contributed)
        return errors_of(self.system.release_folder(SPLIT, week), truth)


def _next_moment(
    moment: datetime, end: datetime, exactly: tuple[float, float], phones: float
) -> datetime:
    """The next in which something is due: to the second, or a day's phones together."""
    together = math.ceil(min(phones, end.timestamp()) / _STEP_SECONDS) * _STEP_SECONDS
    later = max(moment.timestamp() + 1, min(together, *exactly, end.timestamp()))
    return datetime.fromtimestamp(later, UTC)
