"""Refused requests in the log: that there was one, never what its address or headers said."""

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


class OnlyOurMistakes(logging.Filter):
    """For Django's own words on answers, which repeat the address: `portal.observing` tells of
    each without it. What is left is what needs a traceback.

    /health answers 503 while a part is down; that is its answer, not a mistake.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", 500)
        return status >= 500 and status != 503
