"""Calibrating a task's mechanism on proxy data, with where the numbers come from."""
