"""A lost connection is one line in the log; anything else keeps its traceback."""

import logging
import sys

import pytest
import redis

from portal.logs import LineFormatter


@pytest.mark.parametrize(
    ("error", "lines"), [(redis.ConnectionError("gone"), 2), (ValueError("wrong"), 5)]
)
def test_only_mistakes_have_a_traceback(error, lines):
    try:
        raise error
    except type(error):
        record = logging.LogRecord("a", logging.ERROR, "", 1, "Said", (), sys.exc_info())
    text = LineFormatter("%(message)s").format(record)
    assert len(text.splitlines()) <= lines
    assert ("Traceback" in text) is isinstance(error, ValueError)
