"""Problems that differ in what a caller should do next. The API turns them into status codes."""

from aggregation.errors import Problem


class Conflict(Problem):
    """The request was well formed, but things are not as the caller believed: look again."""


class AllBusy(Problem):
    """As many as may be are under way: of the caller's own, or in all."""

    wait_seconds = 10

    def __init__(self, message: str, *, own: bool) -> None:
        self.status, self.code = (429, "throttled") if own else (503, "busy")
        super().__init__(message, hint=f"Ask again in {self.wait_seconds} seconds.")


class TooOften(Problem):
    """Nothing is wrong with the request; it is only too soon."""

    status, code = 429, "throttled"

    def __init__(self, what: str, wait_seconds: int) -> None:
        self.wait_seconds = wait_seconds
        seconds = "a second" if wait_seconds == 1 else f"{wait_seconds} seconds"
        super().__init__(
            f"You have asked for many {what} in a short time.", hint=f"Ask again in {seconds}."
        )
