"""The settings, and one app more: a crowd takes part in this system's calibrations."""

from portal import settings

globals().update({name: getattr(settings, name) for name in dir(settings) if name.isupper()})
INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.journeys.crowded.Crowded"]
