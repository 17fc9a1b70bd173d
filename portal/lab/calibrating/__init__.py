"""Calibrating a task's mechanism on proxy data, with where the numbers come from."""

from portal.lab.calibrating.loading import load_fitted, load_result, misfits, refuse_unseen
from portal.lab.calibrating.simulated import calibrate

__all__ = ["calibrate", "load_fitted", "load_result", "misfits", "refuse_unseen"]
