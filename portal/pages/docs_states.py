"""State machines in the documentation: a fenced block of moves becomes rows of chips and arrows.

A block `states ApiToken` holds one move a line, `active -> revoked: its owner revokes it`; a line
without a state before the arrow says how a row begins. Tests compare the moves with the code's.
"""

from dataclasses import dataclass

from django.apps import apps
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aggregation.errors import Problem
from portal.states import Stateful, States


@dataclass(frozen=True)
class Move:
    # Empty for the move that makes a row.
    before: str
    after: str
    why: str


def moves(text: str) -> tuple[Move, ...]:
    return tuple(_move(line) for line in text.splitlines() if line.strip())


def diagram(entity: str, text: str) -> SafeString:
    """The moves as a list in the order they are written, in the states' own colours."""
    named = _states(entity)
    rows = ((_chip(named, move.before), _chip(named, move.after), move.why) for move in moves(text))
    return format_html(
        '<ul class="states" aria-label="States of {}">\n{}</ul>\n',
        entity,
        format_html_join("", _ROW, rows),
    )


_ROW = (
    '<li><span class="states-move">{} <span class="states-arrow" aria-hidden="true">→</span>'
    '<span class="visually-hidden">becomes</span> {}</span> '
    '<span class="states-why">{}</span></li>\n'
)


def _move(line: str) -> Move:
    states, colon, why = line.partition(":")
    before, arrow, after = states.partition("->")
    if not (arrow and colon and after.strip() and why.strip()):
        raise Problem(
            f"The line {line!r} is not a move between states.",
            hint="Its form is `active -> revoked: why it happens`.",
        )
    return Move(before.strip(), after.strip(), why.strip())


def _states(entity: str) -> dict[str, States]:
    """The states of our model of that name, by value."""
    for model in apps.get_models():
        if model.__name__ == entity and issubclass(model, Stateful):
            return {state.value: state for state in model.State}  # type: ignore[attr-defined]
    return {}


def _chip(named: dict[str, States], value: str) -> SafeString:
    if not value:
        return format_html('<span class="states-start">{}</span>', "new")
    state = named.get(value)
    colour, label = (state.colour, state.label) if state else ("neutral", value)
    return format_html('<span class="badge badge-{}">{}</span>', colour, label)
