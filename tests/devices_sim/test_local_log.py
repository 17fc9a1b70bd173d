"""The local log: plain sentences, nothing said twice, nothing that steers a terminal."""

from __future__ import annotations

from devices_sim.device.local_log import add, lines
from devices_sim.device.state import State

AT = 1_794_182_400.0  # 2026-11-09


def test_it_says_what_left_and_why() -> None:
    state = State(1, started=AT)
    add(state, AT, "sent", "weekly-trips", windows=("2026-11-02",), why="You agreed.", size=1891)
    (line,) = lines(state)
    assert str(line) == (
        "2026-11-09 00:00 Sent a sealed update for weekly-trips, 2026-11-02. (1,891 bytes) "
        "You agreed."
    )


def test_the_same_again_is_one_line() -> None:
    state = State(1, started=AT)
    add(state, AT, "check_in", "DE", size=100)
    add(state, AT, "refused", "weekly-trips", why="A reason.")
    add(state, AT + 3600, "check_in", "DE", size=100)
    first, second = lines(state)
    assert first.why == "A reason."
    assert (second.times, second.bytes, second.at.hour) == (2, 200, 1)
    assert "[2 times]" in str(second)


def test_names_from_a_server_cannot_steer_a_terminal() -> None:
    state = State(1, started=AT)
    add(state, AT, "refused", "\x1b[2Jtask{subject}", why="line\nline")
    (line,) = lines(state)
    assert line.what == "Refused ?[2Jtask{subject}."
    assert line.why == "line?line"
