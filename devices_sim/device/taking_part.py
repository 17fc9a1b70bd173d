"""Taking part: check in, consider, ask for assignments; then verify, run, store and send each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aggregation.protocol.messages import (
    MAX_WANTED,
    VERSION,
    Assigned,
    AssignmentRequest,
    CheckIn,
    NextCheckIn,
    Offer,
    Offers,
    TurnedAway,
    Wanted,
)
from devices_sim.device import budget, settling, verification
from devices_sim.device.considering import Candidate, consider, merged, why_not_eligible
from devices_sim.device.library import Known
from devices_sim.device.once_only import Send
from devices_sim.device.refusal import Refused
from devices_sim.device.running import Work, store, update_of
from devices_sim.device.wake_up import NotSaved, Sent
from devices_sim.device.watermarks import waiting, was_run

if TYPE_CHECKING:
    from devices_sim.device.runtime import Call

# A longer hint is taken for a mistake: a phone does not fall silent for good.
MAX_HINT_SECONDS: Final = 31 * 86_400


async def take_part(call: Call) -> None:
    offers = await _check_in(call)
    candidates = [found for same in _grouped(offers) if (found := _considered(call, same))]
    # The oldest windows first: theirs is the least time left.
    candidates.sort(key=lambda candidate: candidate.windows[0].start)
    wanted = [candidate for candidate in candidates for _ in range(candidate.times)][:MAX_WANTED]
    if not wanted:
        return
    answers = await _ask(call, wanted)
    for candidate, answer in zip(wanted, answers, strict=False):
        if isinstance(answer, TurnedAway):
            _turned_away(call, answer)
        else:
            await call.on_its_own(candidate.offer.task, _run(call, candidate, answer))


async def _check_in(call: Call) -> Offers:
    phone = call.phone
    message = CheckIn(version=VERSION, population=phone.population)
    before = call.did.meter.up
    offers = await phone.api.check_in(message, call.did.meter)
    call.did.checked_in = True
    call.log("check_in", phone.population, size=call.did.meter.up - before)
    _keep_hint(call, offers.next_check_in)
    listed = {(o.task, o.client_task, window) for o in offers.tasks for window in o.windows}
    call.did.released += settling.give_up_unlisted(call.state, listed, now=call.now)
    return offers


def _keep_hint(call: Call, hint: NextCheckIn) -> None:
    """Drawn evenly, so that phones told the same do not come back at the same moment."""
    shortest = min(hint.min_seconds, MAX_HINT_SECONDS)
    longest = min(max(hint.max_seconds, shortest), MAX_HINT_SECONDS)
    call.state.hint = (call.now, call.now + call.phone.rng.uniform(shortest, longest))


def _grouped(offers: Offers) -> list[list[Offer]]:
    """A resumed task can be open twice, under two approvals: whoever asks twice gets both."""
    groups: dict[tuple[str, str], list[Offer]] = {}
    for offer in offers.tasks:
        groups.setdefault((offer.task, offer.client_task), []).append(offer)
    return list(groups.values())


def _considered(call: Call, same: list[Offer]) -> Candidate | None:
    call.deadline.check()
    offer = same[0]
    known = call.phone.library.get(offer.client_task)
    try:
        offer = merged(same)
        if known is not None:
            verification.verify_task(known.task, offer, call.phone.population, call.state)
        streams = known.streams if known is not None else tuple(call.state.consents)
        found = consider(call.state, offer, streams, call.conditions, now=call.now)
    except Refused as refused:
        call.refuse(offer.task, str(refused))
        return None
    if isinstance(found, Candidate):
        return found if len(same) == 1 else replace(found, times=len(same))
    call.did.said.append(f"{offer.task}: {found.reason}")
    return None


async def _ask(call: Call, candidates: list[Candidate]) -> tuple[Assigned | TurnedAway, ...]:
    wanted = tuple(Wanted(task=c.offer.task, client_task=c.offer.client_task) for c in candidates)
    message = AssignmentRequest(version=VERSION, population=call.phone.population, tasks=wanted)
    before = call.did.meter.up
    answer = await call.phone.api.assignments(message, call.did.meter)
    names = ", ".join(sorted({each.task for each in wanted}))
    call.log("asked", names, size=call.did.meter.up - before)
    return answer.assignments


def _turned_away(call: Call, answer: TurnedAway) -> None:
    call.did.turned_away += 1
    call.did.said.append(f"{answer.task}: turned away.")
    call.log("turned_away", answer.task)
    call.come_back(answer.retry_seconds)


async def _run(call: Call, candidate: Candidate, assigned: Assigned) -> None:
    """Verify everything, run each window apart, store, and only then send."""
    verification.verify_assignment(assigned, candidate.offer, call.phone.pins)
    known = await _client_task(call, assigned.client_task)
    verification.verify_task(known.task, candidate.offer, call.phone.population, call.state)
    work = _work(call, candidate, assigned, known)
    if work is None:
        return
    sealed = update_of(work, call.state.events, call.deadline)
    pending = store(call.state, work, sealed, now=call.now)
    sent = Sent(assigned.task, pending.windows, len(sealed), pending.update)
    call.did.sent.append(sent)
    try:
        await call.follow(pending, Send())
    except NotSaved:
        call.did.sent.remove(sent)
        raise


async def _client_task(call: Call, sha256: str) -> Known:
    """From the library, if this phone has had it before; else downloaded."""
    known = call.phone.library.get(sha256)
    if known is not None and sha256 in call.state.client_tasks:
        return known
    return call.phone.library.add(sha256, await call.phone.api.client_task(sha256, call.did.meter))


def _work(call: Call, candidate: Candidate, assigned: Assigned, known: Known) -> Work | None:
    """The windows to run: still open, begun after approval and consent, within the budget."""
    state, task = call.state, assigned.task
    open_still = [window for window in candidate.windows if window.id in assigned.windows]
    # Once more: another task of this wake-up may have taken them.
    windows = waiting(state, open_still, task=task, client_task=assigned.client_task, now=call.now)
    early = verification.windows_refused(windows, assigned.approval, known.task, state)
    unpaid = [w for w in windows if w not in early and not was_run(state, task, w)]
    costly = budget.unaffordable(
        state.budget, known.streams, unpaid, known.price, cap=call.phone.weekly_cap
    )
    for why in (*early.values(), *costly.values()):
        call.refuse(task, why)
    windows = [window for window in windows if window not in early and window not in costly]
    windows = windows[: known.most_windows]
    criteria = candidate.offer.eligibility
    if why := why_not_eligible(state, task, criteria, windows, known.streams, now=call.now):
        call.did.said.append(f"{task}: {why}")
        return None
    return Work(assigned, known, windows, [window for window in windows if window in unpaid])
