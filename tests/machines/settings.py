"""The settings, and two apps more: releases carry no noise, and wait where a test says so."""

from portal import settings

globals().update({name: getattr(settings, name) for name in dir(settings) if name.isupper()})
INSTALLED_APPS = [
    *settings.INSTALLED_APPS,
    "tests.privacy.without_noise.WithoutNoise",
    "tests.machines.holding.Holding",
]
