"""The colours of maps: steps that everybody sees, in both themes."""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest
from django.conf import settings

from tests.portal.pages.test_colours import THEMES, VISIONS, lab, linear


def colours(kind: str, theme: str) -> list[np.ndarray]:
    text = (settings.BASE_DIR / "static/css/charts.css").read_text()
    found = re.findall(rf"--{kind}\d: light-dark\((#\w{{6}}), (#\w{{6}})\);", text)
    return [linear(pair[THEMES[theme]]) for pair in found]


@pytest.mark.parametrize("theme", THEMES)
def test_from_little_to_much_each_step_leaves_the_ground_further_behind(theme: str) -> None:
    lightness = [float(lab(one)[0]) for one in colours("q", theme)]
    steps = [after - before for before, after in pairwise(lightness)]
    assert len(steps) == 6
    assert all(7 <= (-one if theme == "light" else one) <= 15 for one in steps), lightness


@pytest.mark.parametrize("theme", THEMES)
def test_from_less_to_more_lightness_turns_in_the_middle_and_both_ends_are_equal(
    theme: str,
) -> None:
    lightness = [float(lab(one)[0]) for one in colours("d", theme)]
    middle = max(lightness) if theme == "light" else min(lightness)
    assert lightness.index(middle) == 3
    for less, more in zip(lightness[:3], lightness[:3:-1], strict=True):
        assert abs(less - more) < 7


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("kind", "apart"), [("q", 7), ("d", 18)])
def test_no_two_steps_look_alike(kind: str, apart: float, vision: str, theme: str) -> None:
    seen = [lab(VISIONS[vision] @ one) for one in colours(kind, theme)]
    for one, other in combinations(seen, 2):
        assert np.linalg.norm(one - other) >= apart
