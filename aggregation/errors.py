"""Errors that a person reads: one sentence of what is wrong, one of what to do about it."""


class Problem(Exception):
    """Something a person can mend. Never carries an individual contribution."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
