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


def test_an_address_that_a_device_garbled_keeps_its_session_to_itself(client, db, caplog):
    assert client.get("/device/v1sions/5e327bf6ec903e50/updates").status_code == 404
    assert client.get("/no-such-page").status_code == 404
    assert "5e327bf6ec903e50" not in caplog.text
    assert "Not Found: /device…" in caplog.text
    assert "Not Found: /no-such-page" in caplog.text
