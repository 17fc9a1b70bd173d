"""The runtime: one wake-up, from asking after old updates to sending new ones.

Whatever goes wrong with one task stays with it: the others go on, and nothing about it is told to
the server. Nothing is sent before the state that remembers it is saved; a phone that cannot save
stops. After a minute of machine time everything is stopped and freed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Final

from aggregation.protocol.messages import VERSION, Active
from devices_sim.device import event_cache, local_log, settling
from devices_sim.device.api_client import Busy, Declined, NotReached
from devices_sim.device.conditions import Conditions
from devices_sim.device.once_only import (
    Answer,
    Ask,
    NoAnswer,
    Send,
    Settle,
    Stage,
    Step,
    next_step,
)
from devices_sim.device.refusal import Refused
from devices_sim.device.state import Pending, State
from devices_sim.device.taking_part import take_part
from devices_sim.device.wake_up import (
    BUSY,
    DECLINED,
    NO_ANSWER,
    NOT_SAVED,
    OUT_OF_TIME,
    Deadline,
    NotSaved,
    OutOfTime,
    Settled,
    WakeUp,
)

# What got lost after a check-in is taken up again after this long, not at the server's hint.
SOON_SECONDS: Final = 900.0
_UNFINISHED: Final = frozenset({OUT_OF_TIME, BUSY, NO_ANSWER})

if TYPE_CHECKING:
    from devices_sim.device.phone import Phone


async def wake_up(phone: Phone, conditions: Conditions) -> WakeUp:
    call = Call(phone, conditions)
    try:
        await _within_a_minute(call)
        call.save()
    except NotSaved:
        call.did.stopped = NOT_SAVED
    return call.finish()


async def _within_a_minute(call: Call) -> None:
    try:
        async with asyncio.timeout(call.deadline.left):
            await call.run()
    except (OutOfTime, TimeoutError):
        call.did.stopped = OUT_OF_TIME
    except Busy as busy:
        phone = call.phone
        phone.quiet_until = phone.machine() + busy.seconds * phone.rng.uniform(1.0, 1.5)
        call.did.stopped = BUSY
    except Declined as declined:
        call.did.stopped = f"{DECLINED} {declined.message}"
    except NotReached:
        call.did.stopped = NO_ANSWER
    if call.did.stopped in _UNFINISHED:
        call.come_back(SOON_SECONDS)


class Call:
    """One wake-up's hands: the phone, its state while awake, and what was done so far."""

    def __init__(self, phone: Phone, conditions: Conditions) -> None:
        self.phone, self.conditions = phone, conditions
        self.deadline = Deadline(phone.machine)
        self.now = phone.now()
        self.state: State = phone.load()
        self.did = WakeUp()

    async def run(self) -> None:
        """The story: purge, ask after what is on its way, then see what there is to do."""
        event_cache.purge(self.state, self.phone.catalog, now=self.now)
        settling.give_up_outlived(self.state, self.phone.catalog, now=self.now)
        settling.forget_closed(self.state)
        self.did.stopped = self._why_not()
        if self.did.stopped:
            return
        await self._announce()
        for pending in list(self.state.pending):
            await self.on_its_own(pending.task, self.follow(pending, Ask()))
        if self._hint_is_over():
            await take_part(self)
        else:
            self.did.stopped = "The server asked to wait with the next check-in."

    def _why_not(self) -> str:
        if self.conditions.missing:
            return self.conditions.missing
        if self.phone.machine() < self.phone.quiet_until:
            return "The server asked for quiet."
        return "" if self.state.consents else "You have not agreed to any stream."

    def _hint_is_over(self) -> bool:
        """A hint from a time that has not come yet was given to a clock that was wrong."""
        if self.state.hint is None:
            return True
        asked, until = self.state.hint
        return not asked <= self.now < until

    async def _announce(self) -> None:
        """Once per install, with no name: so that reach has a denominator."""
        if self.state.announced:
            return
        await self.on_its_own("active", self._say_active())

    async def _say_active(self) -> None:
        message = Active(version=VERSION, population=self.phone.population)
        before = self.did.meter.up
        await self.phone.api.active(message, self.did.meter)
        self.state.announced = True
        self.log("active", "", size=self.did.meter.up - before)

    async def follow(self, pending: Pending, step: Step) -> None:
        """Do what the once-only rule says about one update until it says rest, or settles it."""
        while isinstance(step, (Send, Ask)):
            self.deadline.check()
            answer = await (self._send if isinstance(step, Send) else self._ask)(pending)
            if not any(other is pending for other in self.state.pending):
                return  # its owner opted out meanwhile
            record, step = next_step(pending.record, answer)
            pending.stage = record.stage
            if record.stage is not Stage.STORED:
                pending.sealed = b""
        if isinstance(step, Settle):
            settling.settle(self.state, pending, step, now=self.now)
            if step.again:
                self.state.hint = None  # given to a phone that had nothing more to send
            self.did.settled.append(Settled(pending.task, pending.update, step))

    async def _send(self, pending: Pending) -> Answer:
        """The one place where an update leaves: after all that remembers it is saved."""
        why = f"You agreed to {', '.join(pending.streams)}, and these windows are complete."
        windows, size = pending.windows, len(pending.sealed)
        local_log.add(
            self.state, self.now, "sent", pending.task, windows=windows, why=why, size=size
        )
        self.save()
        return await self._answer(
            self.phone.api.upload(
                session=pending.session,
                update=pending.update,
                token=pending.token,
                sealed=pending.sealed,
                meter=self.did.meter,
            )
        )

    async def _ask(self, pending: Pending) -> Answer:
        api, meter = self.phone.api, self.did.meter
        return await self._answer(
            api.status(session=pending.session, update=pending.update, meter=meter)
        )

    async def _answer(self, asked: Awaitable[Answer]) -> Answer:
        """Silence is an answer, too; being asked for quiet ends the wake-up."""
        try:
            return await asked
        except Busy:
            raise
        except NotReached:
            return NoAnswer()

    async def on_its_own(self, task: str, work: Awaitable[None]) -> None:
        """Refusals and faults of one task end here; their texts could tell about events."""
        try:
            await work
        except Refused as refused:
            self.refuse(task, str(refused))
        except (Busy, OutOfTime, NotSaved):
            raise
        except NotReached:
            self.did.said.append(f"{task}: the server did not answer.")
            self.come_back(SOON_SECONDS)
        except Exception:
            self.log("failed", task)
            self.did.said.append(f"{task}: could not be run.")

    def come_back(self, seconds: float) -> None:
        """After about so long, if that is before the next check-in."""
        if self.state.hint is not None:
            moment = self.now + seconds * self.phone.rng.uniform(1.0, 1.5)
            self.state.hint = (self.now, min(self.state.hint[1], moment))

    def refuse(self, task: str, why: str) -> None:
        self.did.refusals.append(why)
        self.did.said.append(f"{task}: {why}")
        self.log("refused", task, why=why)

    def log(self, kind: str, subject: str, *, why: str = "", size: int = 0) -> None:
        local_log.add(self.state, self.now, kind, subject, why=why, size=size)

    def save(self) -> None:
        try:
            self.phone.save(self.state)
        except Exception:
            raise NotSaved from None

    def finish(self) -> WakeUp:
        if self.state.hint:
            self.did.not_before = self.state.hint[1]
        self.did.on_their_way = len(self.state.pending)
        return self.did
