"""A lost connection is one line in the log; anything else keeps its traceback."""

import json
import logging
import socket
import sys

import pytest
import redis

from portal.logs import LineFormatter
from tests.parts import eventually
from tests.portal.device_api.front_end import running_front_end


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


def test_what_the_server_in_front_of_us_says_looks_the_same():
    with running_front_end(MAYFLY_LOG_FORMAT="json") as front_end:
        with socket.create_connection(("127.0.0.1", front_end.port), timeout=10) as stranger:
            stranger.sendall(b"GARBAGE\r\n\r\n")
            eventually(lambda: front_end.log)
        (told,) = map(json.loads, front_end.log.splitlines())
    assert (told["logger"], told["level"]) == ("uvicorn.error", "WARNING")
    assert told["message"] == "Invalid HTTP request received."
