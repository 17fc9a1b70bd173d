"""What the home page shows to someone."""

from portal.pages import cards, todos
from portal.pages.home import Card, Todo, Viewer


def todos_for(viewer: Viewer) -> list[Todo]:
    return [todo for source in todos.SOURCES for todo in source(viewer)]


def cards_for(viewer: Viewer) -> list[Card]:
    return [card for source in cards.SOURCES for card in source(viewer)]
