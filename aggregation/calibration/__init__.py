"""Calibration: a mechanism's public parameters, fitted on a proxy population.

Scales, clip bounds, bases and corrections are public numbers that every device receives. They are
fitted on data that needs no protection here: simulated, published, or a proxy that its owner
declares. They move accuracy, never privacy (`mechanisms.interface`), and lie outside a task's ε.
"""
