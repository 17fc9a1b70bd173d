"""A refusal: the phone does not do what a server asks, and tells its owner why."""


class Refused(Exception):
    """Carries one full sentence for the local log; nothing of it goes to the server."""
