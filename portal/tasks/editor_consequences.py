"""What a choice leads to, said while it is made: one sentence per field of the form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import exp, hypot
from typing import Any

from aggregation.protocol.windows import Unit, Window
from portal.tasks.editor_cost import Cost
from portal.tasks.forecast import WINDOWS_IN_A_WEEK, largest_epsilon, weekly_cost

_TASK = {
    Unit.HOUR: "an hourly task",
    Unit.DAY: "a daily task",
    Unit.WEEK: "a weekly task",
    Unit.MONTH: "a monthly task",
}
# A rank and 8 bytes per metric: what a row of an update takes.
_RANK_BYTES, _VALUE_BYTES = 4, 8


@dataclass(frozen=True)
class Situation:
    """What the sentences are made from."""

    document: Mapping[str, Any]
    # The weekly cap of each stream.
    cap: Decimal
    now: datetime
    # How many metrics an update has, where the spec compiles.
    metrics: int | None = None
    # What the coming weeks have left, where the spec compiles.
    cost: Cost | None = None

    def at(self, path: str, default: Any = None) -> Any:
        value: Any = self.document
        for step in path.split("."):
            if not isinstance(value, Mapping) or step not in value:
                return default
            value = value[step]
        return value

    @property
    def unit(self) -> Unit | None:
        given = self.at("window.unit")
        return Unit(given) if given in list(Unit) else None

    def whole(self, path: str, default: int) -> int | None:
        value = self.at(path, default)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def epsilon(self) -> Decimal | None:
        try:
            value = Decimal(str(self.at("anonymization.epsilon")))
        except InvalidOperation:
            return None
        return value if value.is_finite() and 0 < value <= 1000 else None


def consequences(situation: Situation) -> dict[str, str]:
    """Field → sentence, for the fields about which there is something to say."""
    said = {path: sentence(situation) for path, sentence in _SENTENCES.items()}
    return {path: words for path, words in said.items() if words}


def _unit(s: Situation) -> str:
    if s.unit is None or s.at("step") is not None:
        return ""
    most = f"A{_TASK[s.unit][1:]} may spend at most {_largest(s.unit, s.cap)} {_a(s.unit)}"
    if s.unit is Unit.MONTH:
        return f"{most}: a week in which the month changes is charged for both."
    count = WINDOWS_IN_A_WEEK[s.unit]
    why = f"{count} of them are" if count > 1 else "it is"
    return f"{most}: {why} charged to a weekly budget of {s.cap:f}."


def _grace(s: Situation) -> str:
    hours = s.whole("window.grace_hours", 168)
    if s.unit is None or hours is None or not 0 <= hours <= 10_000:
        return ""
    first = Window.containing(s.now, s.unit).next()
    due = first.end + timedelta(hours=hours)
    return (
        f"If it were approved today, the first release ({first.label}) would come on "
        f"{due:%-d %B %Y} at {due:%H:%M} UTC."
    )


def _epsilon(s: Situation) -> str:
    if s.epsilon is None:
        return ""
    factor = exp(min(float(s.epsilon), 50))
    odds = f"One phone changes the odds of any outcome by at most a factor of {_short(factor)}."
    if s.unit is None:
        return odds
    others = f" Others hold {s.cost.tightest.of_others}." if s.cost and s.cost.are_others else ""
    if s.at("step") is not None:
        return f"{odds} It is reserved for the one {s.unit} that the task runs.{others}"
    cost, most = weekly_cost(s.epsilon, s.unit), _largest(s.unit, s.cap)
    if cost > s.cap:
        return odds  # what is wrong with it stands among the problems
    reserved = f"{odds} It reserves {cost.normalize():f} of {s.cap:f} a week"
    if others:
        return f"{reserved}.{others}"
    return f"{reserved}; {_TASK[s.unit]} may spend at most {most} {_a(s.unit)}."


def _clip(s: Situation) -> str:
    clip, kind = s.at("anonymization.mechanism.clip"), s.at("anonymization.mechanism.kind")
    if s.epsilon is None or not isinstance(clip, int | float) or isinstance(clip, bool):
        return ""
    size = float(clip) / float(s.epsilon)
    if kind == "joint_clipping":
        return f"The noise on every value has a mean size of {_short(size)}, in the metric's unit."
    if kind == "group_scaling":
        return f"The noise on every value has a mean size of {_short(size)} times its scale."
    return ""


def _clip_uncertainty(s: Situation) -> str:
    if s.at("anonymization.clip_uncertainty") is None:
        return "Intervals will cover the noise alone."
    count = s.at("anonymization.clip_uncertainty.count")
    terms = s.at(f"anonymization.clip_uncertainty.metrics.{count}", {})
    try:
        random, share = (float(terms.get(term, 0)) for term in ("random", "systematic"))
    except (AttributeError, TypeError, ValueError):
        return ""
    width = 100 * hypot(random / 100, share)
    return (
        f"In a cell of 10,000 events, {count} gets ± {_short(width)} % for clipping, "
        "beside the noise."
    )


def _suppression(s: Situation) -> str:
    share = s.at("anonymization.suppression.max_relative_noise", 0.05)
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share <= 1:
        return ""
    times = _short(1 / share)
    return f"A cell is shown from {times} times its mean noise on; Forecast has the values."


def _separation(s: Situation) -> str:
    windows = s.whole("eligibility.min_separation_windows", 1)
    if s.unit is None or windows is None or windows < 1:
        return ""
    if windows == 1:
        return f"A phone may contribute to every {s.unit}."
    return f"A phone contributes to at most one in {windows:,} {s.unit}s: fewer phones in each."


def _conditions(s: Situation) -> str:
    given = s.at("schedule.conditions", ["idle"])
    if not isinstance(given, list) or not all(isinstance(c, str) for c in given):
        return ""
    return f"Phones run it while charged to 30 %, online{''.join(f', {c}' for c in given)}."


def _min_contributions(s: Situation) -> str:
    least = s.whole("aggregation.min_contributions", 1000)
    if least is None or least < 1:
        return ""
    return f"A sum of fewer than {least:,} phones stays in memory until the window closes."


def _max_contributions(s: Situation) -> str:
    most = s.whole("aggregation.max_contributions", 10_000)
    if most is None or not 0 < most <= 10**9:
        return ""
    return f"A million phones make about {-(-1_000_000 // most):,} sessions."


def _max_rows(s: Situation) -> str:
    rows = s.whole("aggregation.max_rows", 64)
    if rows is None or s.metrics is None or not 0 < rows <= 100_000:
        return ""
    size = rows * (_RANK_BYTES + _VALUE_BYTES * s.metrics)
    return f"Every update has the same length, about {_short(size / 1000)} kB a window."


def _audience(s: Situation) -> str:
    public = s.at("publish.audience", "internal") == "public"
    return "Anybody can read the releases." if public else "People who are signed in read them."


_SENTENCES: dict[str, Callable[[Situation], str]] = {
    "window.unit": _unit,
    "window.grace_hours": _grace,
    "anonymization.epsilon": _epsilon,
    "anonymization.mechanism.clip": _clip,
    "anonymization.clip_uncertainty.count": _clip_uncertainty,
    "anonymization.suppression.max_relative_noise": _suppression,
    "eligibility.min_separation_windows": _separation,
    "schedule.conditions": _conditions,
    "aggregation.min_contributions": _min_contributions,
    "aggregation.max_contributions": _max_contributions,
    "aggregation.max_rows": _max_rows,
    "publish.audience": _audience,
}


def _a(unit: Unit) -> str:
    return f"an {unit}" if unit is Unit.HOUR else f"a {unit}"


def _largest(unit: Unit, cap: Decimal) -> str:
    return f"{largest_epsilon(unit, cap).normalize():f}"


def _short(value: float) -> str:
    """Two or three digits are enough for a sentence."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}".removesuffix(".0")
