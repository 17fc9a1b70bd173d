"""The settings, and one app more: releases of this system carry no noise."""

from portal import settings

globals().update({name: getattr(settings, name) for name in dir(settings) if name.isupper()})
INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.privacy.without_noise.WithoutNoise"]
