"""The fleet as operators may see it: the funnel, what ended on the way, and what calls cost.

One object feeds the page, its live stream, the API and the metrics, and every count in it is coarse
already, so that none of them can show more than the others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from portal.collection.fleet_calls import Calls, Ended, calls, ended_in_calls, ended_in_sessions
from portal.collection.fleet_counts import Span, Stage, TurnedAway
from portal.collection.fleet_spans import Choice, label
from portal.collection.models import ActiveDevices, FleetCount
from portal.collection.overview import Quantity
from portal.collection.reach import WindowReach, latest_reach
from portal.tasks.models import Population

_WINDOWS_SHOWN = 10

# Start of a day or week → population → counter → count. Exact: nothing of it leaves this module.
_Counts = Mapping[date, Mapping[str, Counter[str]]]


@dataclass(frozen=True)
class Funnel:
    """How far devices of one population, or of all, came within one day or week."""

    choice: Choice
    active: Quantity
    checked_in: Quantity
    assigned: Quantity
    turned_away: Quantity
    uploaded: Quantity

    @property
    def when(self) -> str:
        return label(self.choice.span, self.choice.start)

    @property
    def whose(self) -> str:
        return self.choice.population or "Every population"

    @property
    def largest(self) -> int:
        """What its longest bar stands for."""
        found = (self.active, self.checked_in, self.assigned, self.uploaded)
        return max(1, *(quantity.number for quantity in found))


@dataclass(frozen=True)
class Fleet:
    choice: Choice
    # The same day or week by the other measure of time.
    by_day: Choice
    by_week: Choice
    chosen: Funnel
    # Of the chosen population, the latest first.
    series: tuple[Funnel, ...]
    # Of the chosen day or week: all together, then each.
    populations: tuple[Funnel, ...]
    reach: tuple[WindowReach, ...]
    turned_away: tuple[Ended, ...]
    refused_calls: tuple[Ended, ...]
    refused_updates: tuple[Ended, ...]
    calls: Calls
    # Whether anything was counted, ever.
    is_empty: bool

    @property
    def largest_in_series(self) -> int:
        return max(funnel.largest for funnel in self.series)


def fleet(choice: Choice, *, today: date) -> Fleet:
    counts, active = _counted(choice), _active()
    is_empty = not counts and not active
    names = list(Population.objects.values_list("name", flat=True))
    total = sum(counts[choice.start].values(), Counter())
    chosen = _funnel(choice, counts, active)
    whose = chosen.choice.population
    mine = counts[choice.start][whose] if whose else total
    return Fleet(
        choice=choice,
        by_day=choice.by(Span.DAY, today),
        by_week=choice.by(Span.WEEK, today),
        chosen=chosen,
        series=tuple(_funnel(choice.at(start), counts, active) for start in choice.starts),
        populations=tuple(
            _funnel(choice.of_population(name), counts, active) for name in ("", *names)
        ),
        reach=latest_reach(_WINDOWS_SHOWN),
        turned_away=tuple(Ended(_WHY[why], Quantity.of(mine[why])) for why in TurnedAway),
        refused_calls=ended_in_calls(total),
        refused_updates=ended_in_sessions(total),
        calls=calls(total),
        is_empty=is_empty,
    )


_WHY = {
    TurnedAway.NOT_OPEN: "Nothing is open for the population, or the task has changed since",
    TurnedAway.NO_SESSION: "Every session of the task is full, or none is there yet",
}


def _counted(choice: Choice) -> _Counts:
    found: dict[date, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    rows = FleetCount.objects.filter(span=choice.span, start__gte=choice.starts[-1])
    for start, population, counter, count in rows.values_list(
        "start", "population", "counter", "count"
    ):
        found[start][population][counter] = count
    return found


def _active() -> dict[str, int]:
    return dict(ActiveDevices.objects.values_list("population__name", "count"))


def _funnel(choice: Choice, counts: _Counts, active: Mapping[str, int]) -> Funnel:
    def count(*counters: str) -> Quantity:
        here = _of(choice, counts[choice.start])
        return Quantity.of(sum(one[counter] for one in here for counter in counters))

    return Funnel(
        choice=choice,
        active=Quantity.of(_active_at(choice, counts, active)),
        checked_in=count(Stage.CHECKED_IN),
        assigned=count(Stage.ASSIGNED),
        turned_away=count(*TurnedAway),
        uploaded=count(Stage.UPLOADED),
    )


def _active_at(choice: Choice, counts: _Counts, active: Mapping[str, int]) -> int:
    """Installs that had reported by the end of a day or week: those of now, less later ones."""
    now = sum(n for name, n in active.items() if choice.population in ("", name))
    later = [counts[start] for start in counts if start > choice.start]
    return now - sum(one[Stage.ACTIVE] for span in later for one in _of(choice, span))


def _of(choice: Choice, here: Mapping[str, Counter[str]]) -> Iterable[Counter[str]]:
    return [here[choice.population]] if choice.population else list(here.values())
