"""Why a row is not shown, in the terms of the intervals that stand beside rows that are.

The rule of a task limits the *mean size* of the noise, as a share of the value; pages show
half-widths at 95 %. Of one Laplace draw the half-width is ln 20 = 3.0 mean sizes, of a sum of many
2.46, as of a normal law. A limit of 10 % is therefore one of ± 25 to 30 %: the noise of every row
that is not shown is wider than the first, and that of every row that is shown no wider than the
second. The interval of a row may be wider than both, by what clipping may have moved.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from aggregation.protocol.anonymization import Suppression
from aggregation.release.emissions import COLUMN as EMISSIONS
from aggregation.release.suppression import is_asked
from portal.charts.rounding import places_of, written
from portal.releases.browsing.units import spoken, unit_of

# Half-widths at 95 % in mean sizes: of a normal law, and of one Laplace draw.
_LEAST, _MOST = 2.456, 2.996
# As releases have it in their files, which never change.
_SENTENCE: Final = re.compile(r"The noise is more than ([\d.]+) % of (its denominator, )?(.+)\.")


@lru_cache(maxsize=256)
def told(sentence: str) -> str:
    """The reason of a file in words for a page; any other sentence stays as it is."""
    found = _SENTENCE.fullmatch(sentence)
    if not found:
        return sentence
    least, below, column = _least(float(found[1])), found[2], found[3]
    name = "emissions" if column == "the emissions" else plain(column)
    divided = ", by which it is divided" if below else ""
    return f"Its noise alone would be more than about ± {least} % of its {name}{divided}."


def rule_in_words(rule: Suppression) -> str:
    """Which rows are shown."""
    percent = 100 * rule.max_relative_noise
    return (
        f"A row is shown if its noise is at most {percent:g} % of its value on average, which at "
        f"95 % is ± {_least(percent)} to {_written(_MOST * percent)} %. What clipping may have "
        "moved comes on top, so whole intervals can be wider."
    )


def why_not(
    rule: Suppression,
    metrics: Sequence[str],
    *,
    denominator: str = "",
    summed: Sequence[str] = (),
) -> str:
    """Why rows are not shown, for a sentence about many of them.

    Emissions have tables of their own, whose rows are shown on account of nothing else; a ratio
    takes its `denominator`, too. `summed` are keys that the rows are sums over: what is too few for
    those may do for one of their values.
    """
    named = listed(_asked(rule, metrics, denominator), "or")
    over = listed([key.replace("_", " ") for key in summed]) if summed else ""
    sums = (
        f". A sum over every {over} has the noise of each, so it takes more phones than one of "
        "them alone"
    )
    return (
        "the noise alone would be more than about "
        f"± {_least(100 * rule.max_relative_noise)} % of their {named}: too few phones took part, "
        f"or none{sums if over else ''}"
    )


def beside(rule: Suppression, metrics: Sequence[str], *, denominator: str = "", reach: str) -> str:
    """Which numbers a chart shows, and how that goes with the ± beside them, in one sentence."""
    percent = 100 * rule.max_relative_noise
    asked = _asked(rule, metrics, denominator)
    each = " each" if len(asked) > 1 else ""
    return (
        f"A number is shown where its noise is on average at most {percent:g} % of its "
        f"{listed(asked)}{each}, which at 95 % is ± {_least(percent)} to "
        f"{_written(_MOST * percent)} %; {reach}."
    )


def _asked(rule: Suppression, metrics: Sequence[str], denominator: str) -> list[str]:
    always = (EMISSIONS, denominator)
    asked = [metric for metric in metrics if metric in always or is_asked(rule, metric)]
    return [plain(metric) for metric in asked]


def plain(metric: str) -> str:
    """The column in plain words, by its name alone."""
    return spoken(metric, unit_of(metric, ()))


def listed(names: Sequence[str], word: str = "and") -> str:
    """`walking, cycling and driving`."""
    *most, last = names or ["value"]
    return f"{', '.join(most)} {word} {last}" if most else last


def _least(percent: float) -> str:
    return _written(_LEAST * percent)


def _written(percent: float) -> str:
    """As half-widths are: with two digits."""
    return written(percent, places_of(percent))
