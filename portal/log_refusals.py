"""Refused requests in the log: that there was one and where, never what its headers said."""

import logging


class WithoutHeaders(logging.Filter):
    """For Django's own words on forged requests and foreign hosts, which repeat the header."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.security.csrf" and isinstance(record.args, tuple):
            reason, *rest = record.args
            # As in `Origin checking failed - https://… does not match any trusted origins.`
            record.args = (str(reason).partition(" - ")[0], *rest)
        else:
            record.msg, record.args, record.exc_info = "A request asks for another host.", (), None
        return True


class WithoutIds(logging.Filter):
    """For Django's own words on addresses that nobody serves: one that a device garbled has the id
    of its session in it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                "/device…" if str(each).startswith("/device") else each for each in record.args
            )
        return True
