"""Why an update was not counted: one closed list, from the seal to the sum."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """What a session counts a refused update, or a dropped part of one, by.

    Reasons are counted and never answered to a device: an answer that depends on what was inside
    a sealed update would tell about it. From `wrong_shape` on, they are the core's verdicts.
    """

    # The seal does not open: other key, task, session or update id, or tampered with.
    CANNOT_OPEN = "cannot_open"
    # An update of this id was taken already.
    DUPLICATE = "duplicate"
    WRONG_LENGTH = "wrong_length"
    # The right length, but other bytes where the format has fixed ones.
    NOT_AN_UPDATE = "not_an_update"
    WRONG_VERSION = "wrong_version"
    # Not increasing, repeated, or not the id of a window of the task's unit.
    WRONG_WINDOWS = "wrong_windows"
    # A window that this session never had open.
    NEVER_OPEN = "never_open"
    # A row after a filler, or a value beside a filler.
    BAD_FILLER = "bad_filler"
    # Of a part, not of an update: its window closed under way, the other parts count.
    WINDOW_CLOSED = "window_closed"

    WRONG_SHAPE = "wrong_shape"
    TOO_MANY_ROWS = "too_many_rows"
    UNSORTED_RANKS = "unsorted_ranks"
    OUTSIDE_DOMAIN = "outside_domain"
    VALUE_BEYOND_BOUND = "value_beyond_bound"
    SUM_BEYOND_BOUND = "sum_beyond_bound"
    OTHER_PART_REFUSED = "other_part_refused"


class BadUpdate(Exception):
    """An update that is refused as a whole. Carries the reason, never any contents."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason
