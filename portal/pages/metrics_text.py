"""Metrics as Prometheus writes them: gauges, counters and histograms."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portal.measuring import Labels, Measured

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Metric:
    name: str
    # What it says, in a sentence.
    help: str
    # Labels as they are written, and the value.
    samples: tuple[tuple[dict[str, str], float], ...]
    kind: str = "gauge"

    def lines(self) -> Iterator[str]:
        for labels, value in self.samples:
            yield _line(self.name, labels, value)


@dataclass(frozen=True)
class Histogram:
    """Durations, in classes that each hold the ones before."""

    name: str
    help: str
    rows: tuple[tuple[Labels, Measured], ...]
    kind: str = "histogram"

    @property
    def samples(self) -> tuple[tuple[dict[str, str], float], ...]:
        return tuple((dict(labels), float(row.count)) for labels, row in self.rows)

    def lines(self) -> Iterator[str]:
        for labels, row in self.rows:
            named = dict(labels)
            for bound, count in row.within.items():
                yield _line(f"{self.name}_bucket", {**named, "le": f"{bound:g}"}, count)
            yield _line(f"{self.name}_bucket", {**named, "le": "+Inf"}, row.count)
            yield _line(f"{self.name}_sum", named, row.seconds)
            yield _line(f"{self.name}_count", named, row.count)


def one(name: str, sentence: str, value: float) -> Metric:
    """A metric without labels."""
    return Metric(name, sentence, (({}, float(value)),))


def as_text(found: Iterable[Metric | Histogram]) -> str:
    return "".join(line + "\n" for metric in found for line in _described(metric))


def _described(metric: Metric | Histogram) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    yield from metric.lines()


def _line(name: str, labels: dict[str, str], value: float) -> str:
    written = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{written}}} {_number(value)}" if labels else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    """Whole numbers whole: 1200000, not 1.2e+06."""
    return str(int(value)) if value == int(value) else repr(round(value, 3))
