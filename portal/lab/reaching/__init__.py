"""Whom the platform reaches: the paper's table of constraints, and its ladder of versions."""

from portal.lab.reaching.study import study_reach

__all__ = ["study_reach"]
