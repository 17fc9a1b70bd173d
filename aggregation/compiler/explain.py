"""Explain an accepted spec in plain words: the account a reviewer signs.

Everything here is read from the compiled documents, never from what the analyst wrote about them,
so it says what will happen and not what was meant to.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.client_task import ClientTask, Key, Step
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.steps import BUCKETS, SliceNorms
from aggregation.protocol.windows import Unit

_WEEKLY = {Unit.HOUR: 168, Unit.DAY: 7, Unit.WEEK: 1, Unit.MONTH: 1}
_SHOWN = 12


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One paragraph per question a reviewer asks."""

    on_the_phone: str
    leaves_the_phone: str
    on_the_server: str
    published: str
    privacy: str

    @property
    def paragraphs(self) -> tuple[tuple[str, str], ...]:
        return (
            ("On the phone", self.on_the_phone),
            ("What leaves the phone", self.leaves_the_phone),
            ("On the server", self.on_the_server),
            ("What is published", self.published),
            ("Privacy", self.privacy),
        )

    @property
    def text(self) -> str:
        return "\n\n".join(f"{title}. {words}" for title, words in self.paragraphs)


def explain(task: ClientTask, config: ServerConfig) -> Explanation:
    return Explanation(
        on_the_phone=_on_the_phone(task),
        leaves_the_phone=_leaves_the_phone(task),
        on_the_server=_on_the_server(config),
        published=_published(config),
        privacy=_privacy(task, config),
    )


def _on_the_phone(task: ClientTask) -> str:
    unit = task.window_unit
    reads = "; ".join(_reads(*pair) for pair in task.reads.items())
    conditions = ", ".join(("charged to 30 %", "online", *task.schedule.conditions))
    who = "every population" if task.populations == ("all",) else ", ".join(task.populations)
    first = (
        f"Each phone of {who} will run one query per complete {unit}, once for each {unit}, "
        f"at most {_times(task.schedule.max_runs_per_day)} a day, while {conditions}."
    )
    step = "" if task.step is UNSET else f"{_step(task.step)} "
    return f"{first} It reads {reads}. {step}{_eligibility(task)}".strip()


def _step(step: Step) -> str:
    """What becomes of the query's rows, which themselves stay on the phone."""
    norms = step.norms
    if isinstance(norms, SliceNorms):
        what = f"how much of {_list(step.metrics)} it has{_in_slices(norms.by)}"
    else:
        what = f"how much it has in all, {_list(step.metrics)} divided by public scales"
    return (
        f"A built-in step then finds {what}, and keeps only which of {BUCKETS} sizes that is: "
        f"the query's own numbers stay on the phone."
    )


def _reads(stream: str, columns: tuple[str, ...]) -> str:
    own = ", ".join(c for c in columns if c != "privacy_time_unit")
    return f"{own or 'only the number of events'} of {stream}"


def _eligibility(task: ClientTask) -> str:
    rules = task.eligibility
    words = []
    if rules.min_separation_windows > 1:
        words.append(f"A phone contributes to one in {rules.min_separation_windows} windows.")
    if rules.require_events:
        words.append("Phones without events in the window do not take part.")
    if rules.sql is not None:
        words.append(f"It takes part only where this holds on the phone: {rules.sql}")
    return " ".join(words)


def _leaves_the_phone(task: ClientTask) -> str:
    maker = "query" if task.step is UNSET else "step"
    keys = "; ".join(_key(key, maker) for key in task.keys) or "no keys"
    return (
        f"What leaves the phone is at most {_counted(task.max_rows, 'row')}, each with {keys}, "
        f"the {task.window_unit}, and {_list(task.metrics)}: whole numbers, bounded together, "
        f"padded to one length and sealed. No identifier, no time of an event, no text."
    )


def _key(key: Key, maker: str) -> str:
    if key.values is not None:
        shown = ", ".join(str(v) for v in key.values[:_SHOWN])
        more = ", …" if key.count > _SHOWN else ""
        return f"{key.name} (made by the {maker}: {shown}{more})"
    return f"{key.name} (one of {key.count:,} declared values)"


def _on_the_server(config: ServerConfig) -> str:
    sizes = config.aggregation
    cells = _cells(config)
    return (
        f"The server adds the phones up in memory, {sizes.min_contributions:,} to "
        f"{sizes.max_contributions:,} in a session of at most {sizes.max_session_minutes} minutes. "
        f"It waits {config.grace_hours} hours after the {config.window_unit} ends, then adds noise "
        f"to {_counted(cells, 'cell')} × {_counted(len(config.metrics), 'metric')}, empty cells "
        f"included."
    )


def _published(config: ServerConfig) -> str:
    shown = [m for m in config.metrics if m not in config.hidden]
    words = [f"What is published to the {config.audience} audience, once and for good, per"]
    words.append(f"{_list([k.name for k in config.keys] + [str(config.window_unit)])}:")
    words.append(f"{_list(shown + [d.name for d in config.derived])}.")
    for derived in config.derived:
        factor = "" if derived.factor == 1 else f", times {derived.factor:g}"
        words.append(
            f"{derived.name} is derived: noised {derived.numerator} divided by noised "
            f"{derived.denominator}{factor}."
        )
    for hidden in config.hidden:
        words.append(f"{hidden} is a hidden coordinate: summed and noised, not shown.")
    if config.publish_columns is not None:
        words.append(f"Only these columns are shown: {', '.join(config.publish_columns)}.")
    if config.post_processing:
        words.append(f"Then {config.post_processing} are computed from the noised values.")
    words.append(_suppression(config))
    words.append(_intervals(config))
    return " ".join(words)


def _suppression(config: ServerConfig) -> str:
    rule = config.suppression
    which = "any metric" if rule.metrics == "all" else f"any of {_names(rule.metrics)}"
    return (
        f"A cell is suppressed when the mean noise of {which} exceeds "
        f"{100 * rule.max_relative_noise:g} % of its noised value."
    )


def _intervals(config: ServerConfig) -> str:
    given = config.clip_uncertainty
    if given is None:
        return "Intervals cover the noise, and not what bounding took away on the phones."
    return (
        "Intervals cover the noise and what bounding took away on the phones, as known from: "
        f"{given.source.strip().rstrip('.')}."
    )


def _privacy(task: ClientTask, config: ServerConfig) -> str:
    unit = task.window_unit
    streams = _list(list(config.streams))
    cost = f"each {unit} costs ε = {config.epsilon} on {streams}"
    if task.step is not UNSET:
        cost = f"it costs ε = {config.epsilon} on {streams}, for the one {unit} that it runs"
    elif unit in (Unit.HOUR, Unit.DAY):
        cost += f", {_WEEKLY[unit]} of them in a civil week"
    return (
        f"Any one phone's whole contribution to one {unit} changes the odds of any published "
        f"outcome by at most a factor e^{config.epsilon} (ε = {config.epsilon}, add or remove one "
        f"device). {_mechanism(config.mechanism)} In the ledger {cost}. "
        f"Only windows that begin after activation are collected."
    )


def _mechanism(mechanism: Mechanism) -> str:
    match mechanism:
        case JointClipping(clip=clip):
            return f"A phone's metrics are bounded together at a total of {clip:g}."
        case BudgetSplit(slice_by=by):
            return f"Each metric is bounded on its own{_in_slices(by)}."
        case GroupScaling(scale_by=by, clip=clip):
            return f"Metrics are scaled{_in_slices(by)}, then bounded together at {clip:g}."
        case Rotated(by=by):
            return f"Metrics are mixed by a public matrix{_in_slices(by)}, then bounded together."


def _in_slices(by: tuple[str, ...]) -> str:
    return f" in each slice by {_list(list(by))}" if by else ""


def _cells(config: ServerConfig) -> int:
    total = 1
    for key in config.keys:
        total *= key.count
    return total


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _names(metrics: str | tuple[str, ...]) -> str:
    return metrics if isinstance(metrics, str) else ", ".join(metrics)


def _list(words: tuple[str, ...] | list[str]) -> str:
    *most, last = words or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last
