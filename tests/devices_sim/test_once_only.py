"""The once-only rule, answer by answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devices_sim.device.once_only import (
    Answer,
    Ask,
    NoAnswer,
    NotTaken,
    Over,
    Queued,
    Record,
    Rest,
    Send,
    SessionShut,
    Settle,
    Stage,
    Step,
    StillOpen,
    UnknownSession,
    abandon,
    next_step,
)

RECORD = Record("5" * 32, "7" * 16, ("2026-11-09", "2026-11-16"))
BOTH = RECORD.windows


@pytest.mark.parametrize(
    ("stage", "answer", "then", "step"),
    [
        (Stage.STORED, Queued(), Stage.QUEUED, Rest()),
        (Stage.STORED, SessionShut(), Stage.SHUT, Ask()),
        (Stage.STORED, NotTaken(), Stage.SHUT, Rest()),
        (Stage.STORED, NoAnswer(), Stage.STORED, Rest()),
        (Stage.STORED, StillOpen(), Stage.STORED, Send()),
        (Stage.QUEUED, StillOpen(), Stage.QUEUED, Rest()),
        (Stage.SHUT, StillOpen(), Stage.SHUT, Rest()),
        (Stage.QUEUED, NoAnswer(), Stage.QUEUED, Rest()),
    ],
)
def test_until_the_session_is_over_it_stays_with_it(
    stage: Stage, answer: Answer, then: Stage, step: Step
) -> None:
    assert next_step(replace(RECORD, stage=stage), answer) == (replace(RECORD, stage=then), step)


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize(
    ("answer", "settled"),
    [
        (Over(frozenset(BOTH)), Settle(counted=BOTH)),
        (Over(frozenset()), Settle(again=BOTH)),
        (Over(frozenset(BOTH[1:])), Settle(counted=BOTH[1:], again=BOTH[:1])),
        (Over(frozenset({"1999-01-04"})), Settle(again=BOTH)),
        (UnknownSession(), Settle(given_up=BOTH)),
    ],
)
def test_the_end_of_the_session_settles_every_window_once(
    stage: Stage, answer: Answer, settled: Settle
) -> None:
    _, step = next_step(replace(RECORD, stage=stage), answer)
    assert step == settled
    assert sorted(settled.counted + settled.again + settled.given_up) == list(BOTH)


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize(
    "answer", [Queued(), SessionShut(), NotTaken(), NoAnswer(), StillOpen(), UnknownSession()]
)
def test_nothing_goes_again_without_an_over(stage: Stage, answer: Answer) -> None:
    _, step = next_step(replace(RECORD, stage=stage), answer)
    assert not (isinstance(step, Settle) and step.again)


@pytest.mark.parametrize("answer", [Queued(), SessionShut(), NotTaken()])
def test_bytes_that_need_not_leave_again_are_not_sent(answer: Answer) -> None:
    record, _ = next_step(RECORD, answer)
    assert next_step(record, StillOpen())[1] == Rest()


def test_what_is_abandoned_may_have_been_counted() -> None:
    assert abandon(RECORD) == Settle(given_up=BOTH)
