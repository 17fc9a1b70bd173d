"""Numbers on charts."""

import pytest

from portal.charts import Mark
from portal.charts.words import nothing_shown, short, short_interval, spoken


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (7, "7"),
        (9999, "9,999"),
        (9999.7, "10 k"),
        (12_400, "12.4 k"),
        (999_960, "1 M"),
        (1.2e6, "1.2 M"),
        (3.4e9, "3.4 bn"),
        (-5.06e12, "−5.06 tn"),
        (0.25, "0.25"),
        (0.000123, "0.000123"),
    ],
)
def test_short(value: float, written: str) -> None:
    assert short(value) == written


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        (Mark(12.4e6, 0.31e6), "12.40 ± 0.31 million km"),
        (Mark(12.4e6, 0.12e6), "12.40 ± 0.12 million km"),
        (Mark(45, 61), "45 ± 61 km"),
        (Mark(12_340, 410), "12,340 ± 410 km"),
        (Mark(-0.2, 14), "0 ± 14 km"),
        (Mark(-1.5, 0.04), "−1.500 ± 0.040 km"),
        (Mark(10, 2e6), "0.0 ± 2.0 million km"),
        (Mark(12.4e6), "12.4 million km"),
        (Mark(5, 0), "5 ± 0 km"),
        (Mark(5, 1, note="a remark"), "5.0 ± 1.0 km (a remark)"),
        (Mark(None), "not shown"),
        (Mark(None, note="too few devices"), "not shown: too few devices"),
    ],
)
def test_spoken(mark: Mark, written: str) -> None:
    assert spoken(mark, "km") == written


def test_a_label_carries_the_interval() -> None:
    assert short_interval(Mark(12.4e6, 0.31e6)) == "12.40 ± 0.31 M"


def test_a_sentence_of_reasons_ends_once() -> None:
    marks = [Mark(None, note="Too few phones."), Mark(None, note="Too few phones.")]
    assert nothing_shown(marks) == "None of these 2 numbers is shown: too few phones."
