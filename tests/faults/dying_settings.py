"""The settings of a system without noise, and one app more: its worker dies at a place."""

from tests.privacy import without_noise_settings as without_noise

globals().update({name: value for name, value in vars(without_noise).items() if name.isupper()})
INSTALLED_APPS = [*without_noise.INSTALLED_APPS, "tests.faults.dying.Dying"]
