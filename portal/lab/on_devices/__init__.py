"""Calibration on phones: sizes of a mechanism learnt from devices, by two small tasks."""
