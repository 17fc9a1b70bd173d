"""What makes a simulation fail: a double count, a count of nothing that was sent, a count that is
gone again, and blindness."""

from devices_sim.fleet.report import Report
from devices_sim.simulation.result import Result, WindowResult


def result(
    *, double: int = 0, strange: int = 0, counted: int = 5, forgotten: int = 0, bad: str = ""
) -> Result:
    report = Report(wake_ups=10, sent=5)
    if bad:
        report.bad[bad] += 1
    window = WindowResult(
        "weekly-trips", "2026-11-09", sent=5, phones=5, counted=counted, double=double,
        lost=forgotten, forgotten=forgotten, last_words={}, strange=strange, errors=[],
    )  # fmt: skip
    return Result("world", 10, 1, "data", 1.0, report, [window], {}, {}, {})


def test_nothing_wrong_is_no_failure() -> None:
    assert result().failures() == []


def test_each_kind_of_wrong_is_told() -> None:
    assert "the once-only rule is broken" in result(double=1).failures()[0]
    assert "1 updates are counted that nobody sent" in result(strange=1).failures()[0]
    assert "2 phones were told that they count, and do not" in result(forgotten=2).failures()[0]
    assert "nothing of what was sent is seen to count" in result(counted=0).failures()[0]


def test_hostile_phones_send_what_no_honest_one_did() -> None:
    assert result(strange=1, bad="duplicate").failures() == []
