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


@pytest.mark.parametrize("verb", ["get", "post", "put"])
def test_no_address_is_repeated_that_somebody_got_wrong(client, db, caplog, verb):
    """A device that garbles one has the id of its session in it."""
    for address in ("/device/v1sions/5e327bf6/updates", "/devicf/5e327bf6", "/login/5e327bf6"):
        assert getattr(client, verb)(address).status_code in (403, 404)
    client.put("/health?5e327bf6")
    assert "5e327bf6" not in caplog.text
