"""The colours: text can be read on every ground, and a chart's series can be told apart by people
with every kind of colour vision."""

import re
from itertools import combinations

import numpy as np
import pytest
from django.conf import settings

THEMES = {"light": 0, "dark": 1}
GROUNDS = ["sunken", "canvas", "surface", "raised", "hover"]
TONES = ["info", "good", "warning", "bad", "accent"]

# Linear RGB as it is seen, after Machado, Oliveira and Fernandes (2009), at full severity.
VISIONS = {
    "common": np.eye(3),
    "without red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "without green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "without blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def tokens(theme: str) -> dict[str, np.ndarray]:
    text = (settings.BASE_DIR / "static/css/tokens.css").read_text()
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", text)
    return {name: linear(pair[THEMES[theme]]) for name, *pair in found}


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The ratio of WCAG 2: 4.5 for text, 3 for what must be seen."""
    low, high = sorted(float(TO_XYZ[1] @ colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(colour: np.ndarray) -> np.ndarray:
    x = TO_XYZ @ np.clip(colour, 0, 1) / WHITE
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_on_every_ground(theme: str) -> None:
    known = tokens(theme)
    for text in ("text", "text-soft", "text-muted", "accent"):
        for ground in GROUNDS:
            assert contrast(known[text], known[ground]) >= 4.5, (text, ground)


@pytest.mark.parametrize("theme", THEMES)
def test_every_tone_can_be_read_on_its_own_ground(theme: str) -> None:
    known = tokens(theme)
    for tone in TONES:
        assert contrast(known[tone], known[f"{tone}-soft"]) >= 4.5, tone
        assert contrast(known["text"], known[f"{tone}-soft"]) >= 4.5, tone
    assert contrast(known["on-accent"], known["accent-fill"]) >= 4.5
    assert contrast(known["on-bad"], known["bad-fill"]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_controls_and_focus_can_be_seen(theme: str) -> None:
    known = tokens(theme)
    for mark in ("line-control", "focus"):
        for ground in ("canvas", "surface"):
            assert contrast(known[mark], known[ground]) >= 3, (mark, ground)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISIONS)
def test_the_series_of_a_chart_can_be_told_apart(theme: str, vision: str) -> None:
    known = tokens(theme)
    series = [known[f"series-{number}"] for number in range(1, 7)]
    seen = [lab(VISIONS[vision] @ colour) for colour in series]
    for one, other in combinations(seen, 2):
        # A difference of 2 can be noticed side by side; 25 is another colour altogether.
        assert np.linalg.norm(one - other) >= 25
    for colour in series:
        assert contrast(colour, known["surface"]) >= 3
