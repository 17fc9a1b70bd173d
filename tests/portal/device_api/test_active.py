"""Active devices: counted once each, by population, nothing else."""

from concurrent.futures import ThreadPoolExecutor

from portal.collection.active import counter
from tests.portal.device_api.front_end import FrontEnd


def test_it_counts(front_end: FrontEnd) -> None:
    front_end.publish()
    body = {"version": 1, "population": "FR"}

    def say(_: int) -> int:
        return front_end.ask("POST", "/device/v1/active", body).status

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(say, range(40))) == {204}
    assert int(front_end.valkey.client.get(counter("FR"))) == 40


def test_an_unknown_population_makes_no_counter(front_end: FrontEnd) -> None:
    front_end.publish()
    body = {"version": 1, "population": "nowhere"}
    reply = front_end.ask("POST", "/device/v1/active", body)
    assert (reply.status, reply.code) == (422, "unknown_population")
    assert not front_end.valkey.client.exists(counter("nowhere"))


def test_the_answer_has_no_body(front_end: FrontEnd) -> None:
    front_end.publish()
    reply = front_end.ask("POST", "/device/v1/active", {"version": 1, "population": "DE"})
    assert (reply.status, reply.body) == (204, b"")
    assert "set-cookie" not in reply.headers
