"""Releases without noise, for tests that compare a sum with the truth. No part of the program.

A whole system runs so with `DJANGO_SETTINGS_MODULE=tests.privacy.without_noise_settings`, which
installs this as an app.
"""

from typing import Any

import numpy as np
from django.apps import AppConfig


class NoNoise:
    """Draws that change nothing."""

    def draw(self, count: int) -> Any:
        return np.zeros(count, dtype=np.int64)


def turn_noise_off() -> None:
    from aggregation.release.noise import add_noise
    from portal.releases import services

    services.add_noise = lambda report, recipe: add_noise(report, recipe, draws=NoNoise())


class WithoutNoise(AppConfig):
    name = "tests.privacy.without_noise"
    label = "without_noise"

    def ready(self) -> None:
        turn_noise_off()
