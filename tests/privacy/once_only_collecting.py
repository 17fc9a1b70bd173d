"""Collectors: a window's last stop, one after the other as they die, and sessions that keep for
them what they handed over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.privacy.once_only_world import DEAD, FLUSHED, OPEN, WAITING, Bounds, Rules, World, gone


def collecting(world: World, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, World]]:
    yield from _begins(world)
    yield from _settles(world, rules)
    yield from _given_again(world, rules, bounds)


def _begins(world: World) -> Iterator[tuple[str, World]]:
    """The next one, once all before it are dead; from the first on, nobody sends the window."""
    collectors = [n for n, session in enumerate(world.sessions) if session.collects]
    number = next((n for n in collectors if world.sessions[n].state != DEAD), None)
    if number is not None and world.sessions[number].state == WAITING:
        begun = replace(world.sessions[number], state=OPEN, alive=True)
        yield (
            f"collector {number} begins",
            replace(world.with_session(number, begun), collected=True),
        )


def _settles(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """What it has is released. A zombie finds its row dead, and releases nothing."""
    for number, session in enumerate(world.sessions):
        if (
            session.collects
            and session.alive
            and (session.state == OPEN or not rules.flush_is_fenced)
        ):
            done = replace(world, closed=world.closed | {window for window, _ in world.counts})
            over = replace(gone(session), state=FLUSHED)
            yield (
                f"collector {number} settles",
                done.with_counted(session.held).with_session(number, over),
            )


def _given_again(world: World, rules: Rules, bounds: Bounds) -> Iterator[tuple[str, World]]:
    """What is kept goes from a dead collector to the next one; a keeper may die at any time."""
    for number, session in enumerate(world.sessions):
        if session.kept is None:
            continue
        if "killed" in bounds.faults:
            lost = replace(session, kept=None)
            yield f"{number} keeps no more", world.with_session(number, lost)
        before, state = session.kept
        if world.sessions[before].state != DEAD:
            continue
        for to, other in enumerate(world.sessions):
            wanted = other.collects or not rules.kept_for_collectors_only
            if to != number and other.state == OPEN and wanted:
                handed = frozenset((window, to) for window, _ in session.handed)
                moved = replace(session, kept=(to, state), handed=handed)
                passing = world.passing | {(to, state)}
                yield (
                    f"{number} gives again to {to}",
                    replace(world, passing=passing).with_session(number, moved),
                )
