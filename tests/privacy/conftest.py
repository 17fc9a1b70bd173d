"""Noise from the same keys every day, so that what is red was broken by a change."""

import pytest


@pytest.fixture(autouse=True)
def _same_noise(same_noise: None) -> None:
    pass
