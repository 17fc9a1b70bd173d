"""Calibrations at ε = 0.5 that a known crowd takes part in, and no noise. No part of the program.

A whole system runs so with `DJANGO_SETTINGS_MODULE=tests.journeys.crowded_settings`: a dozen phones
can then be told apart in its releases, and there are enough devices to read scales and a clip from.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from django.apps import AppConfig

from tests.portal.lab.on_devices.crowd import crowd
from tests.privacy.without_noise import NoNoise

EPSILON = Fraction(1, 2)


def join() -> None:
    from aggregation.protocol.anonymization import GRID
    from aggregation.release.noise import add_noise
    from portal.releases import services

    def joined(report: Any, recipe: Any) -> Any:
        if recipe.metrics == ("devices",) and recipe.epsilon == EPSILON:
            report.sums[:, 0] += (crowd(len(report.sums)) * GRID).astype(np.int64)
        return add_noise(report, recipe, draws=NoNoise())

    services.add_noise = joined


class Crowded(AppConfig):
    name = "tests.journeys.crowded"
    label = "crowded"

    def ready(self) -> None:
        join()
