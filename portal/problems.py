"""Problems that differ in what a caller should do next. The API turns them into status codes."""

from aggregation.errors import Problem


class Conflict(Problem):
    """The request was well formed, but things are not as the caller believed: look again."""


class TooOften(Problem):
    """Nothing is wrong with the request; it is only too soon."""

    def __init__(self, what: str, wait_seconds: int) -> None:
        self.wait_seconds = wait_seconds
        seconds = "a second" if wait_seconds == 1 else f"{wait_seconds} seconds"
        super().__init__(
            f"You have asked for many {what} in a short time.", hint=f"Ask again in {seconds}."
        )
