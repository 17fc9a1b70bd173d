import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.clock import ManualClock, Segment, SimulatedClock, SystemClock
from aggregation.errors import Problem

EPOCH = datetime(2026, 11, 8, 23, tzinfo=UTC)
SECOND = timedelta(seconds=1)


class Machine:
    """Machine time that a test moves by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def simulated(tmp_path: Path, machine: Machine) -> SimulatedClock:
    return SimulatedClock(tmp_path / "clock.json", machine=machine)


def test_the_system_clock_gives_the_machines_time_in_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(EPOCH)
    assert clock.now() == clock.now() == EPOCH
    clock.advance(timedelta(hours=2))
    assert clock.now() == EPOCH + timedelta(hours=2)
    clock.set(EPOCH)
    assert clock.now() == EPOCH


def test_clocks_give_utc_and_refuse_moments_without_a_zone(simulated: SimulatedClock) -> None:
    eastern = EPOCH.astimezone(timezone(timedelta(hours=9)))
    assert ManualClock(eastern).now().utcoffset() == timedelta(0)
    naive = datetime(2026, 11, 8)  # noqa: DTZ001
    with pytest.raises(Problem, match="has no time zone"):
        ManualClock(naive)
    with pytest.raises(Problem, match="has no time zone"):
        simulated.start(naive, speed=1)


def test_simulated_time_runs_at_its_speed(simulated: SimulatedClock, machine: Machine) -> None:
    simulated.start(EPOCH, speed=60)
    assert simulated.now() == EPOCH
    machine.seconds += 10
    assert simulated.now() == EPOCH + 600 * SECOND
    assert simulated.speed == 60


def test_changing_the_speed_is_continuous(simulated: SimulatedClock, machine: Machine) -> None:
    simulated.start(EPOCH, speed=10_080)
    for speed in (0, 3, 1008, 0.5):
        machine.seconds += 7
        before = simulated.now()
        simulated.set_speed(speed)
        assert simulated.now() == before
        machine.seconds += 2
        assert simulated.now() == before + 2 * speed * SECOND


def test_it_jumps_forward_and_back_and_keeps_its_speed(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    for moment in (EPOCH + timedelta(days=40), EPOCH - timedelta(days=400)):
        machine.seconds += 5
        simulated.set(moment)
        assert simulated.now() == moment
        machine.seconds += 1
        assert simulated.now() == moment + 60 * SECOND


def test_advancing_adds_to_the_present(simulated: SimulatedClock, machine: Machine) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds += 1
    simulated.advance(timedelta(hours=1))
    assert simulated.now() == EPOCH + timedelta(hours=1, minutes=1)


def test_it_stands_still_while_the_system_is_down(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds += 10
    simulated.alive()
    machine.seconds += 100_000
    simulated.resume()
    assert simulated.now() == EPOCH + 600 * SECOND
    machine.seconds += 1
    assert simulated.now() == EPOCH + 660 * SECOND


def test_it_stands_still_from_its_start_until_the_first_run(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds += 100
    simulated.resume()
    assert simulated.now() == EPOCH


def test_what_was_set_while_the_system_was_down_holds(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    simulated.alive()
    machine.seconds += 50
    simulated.set(EPOCH + timedelta(days=30))
    machine.seconds += 50
    simulated.resume()
    assert simulated.now() == EPOCH + timedelta(days=30)


def test_resuming_twice_or_at_once_changes_nothing(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds += 10
    simulated.alive()
    simulated.resume()
    simulated.resume()
    assert simulated.now() == EPOCH + 600 * SECOND


def test_a_clock_that_stands_resumes_standing(simulated: SimulatedClock, machine: Machine) -> None:
    simulated.start(EPOCH, speed=0)
    simulated.alive()
    machine.seconds += 100
    simulated.resume()
    machine.seconds += 100
    assert simulated.now() == EPOCH


def test_a_damaged_mark_counts_as_none(
    tmp_path: Path, simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds += 10
    (tmp_path / "clock.alive").write_text("yesterday")
    simulated.resume()
    assert simulated.now() == EPOCH


def test_a_machine_clock_set_back_never_takes_time_before_the_start(
    simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=60)
    machine.seconds -= 5_000
    assert simulated.now() == EPOCH
    simulated.resume()
    assert simulated.now() == EPOCH


@given(
    st.lists(
        st.tuples(
            st.floats(0, 1e5),
            st.one_of(
                st.tuples(st.just("speed"), st.floats(0, 1e5)),
                st.tuples(st.just("down"), st.floats(0, 1e6)),
            ),
        ),
        max_size=8,
    )
)
def test_time_is_continuous_through_speeds_and_down_times(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, tuple[str, float]]]
) -> None:
    machine = Machine()
    clock = SimulatedClock(tmp_path_factory.mktemp("clock") / "clock.json", machine=machine)
    clock.start(EPOCH, speed=1)
    for running, (what, amount) in steps:
        machine.seconds += running
        before = clock.now()
        if what == "speed":
            clock.set_speed(amount)
        else:
            clock.alive()
            machine.seconds += amount
            clock.resume()
        assert abs(clock.now() - before) < timedelta(milliseconds=10)


def test_a_segment_does_not_run_before_it_begins() -> None:
    segment = Segment(real=100, simulated=5_000, speed=10)
    assert segment.at(90) == 5_000
    assert segment.at(101) == 5_010


def test_another_reader_sees_a_change_at_once(
    tmp_path: Path, simulated: SimulatedClock, machine: Machine
) -> None:
    simulated.start(EPOCH, speed=0)
    reader = SimulatedClock(tmp_path / "clock.json", machine=machine)
    for hours in range(50):
        simulated.set(EPOCH + timedelta(hours=hours))
        assert reader.now() == EPOCH + timedelta(hours=hours)


def test_another_process_reads_the_same_time(tmp_path: Path) -> None:
    clock = SimulatedClock(tmp_path / "clock.json")
    clock.start(EPOCH, speed=1)
    code = (
        "import sys; from pathlib import Path; from aggregation.clock import SimulatedClock;"
        "print(SimulatedClock(Path(sys.argv[1])).now().isoformat())"
    )
    before = clock.now()
    told = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "clock.json")],
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert before <= datetime.fromisoformat(told.stdout.strip()) <= clock.now()


def test_writers_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    SimulatedClock(path).start(EPOCH, speed=0)
    each = timedelta(minutes=1)

    def advance_ten_times() -> None:
        clock = SimulatedClock(path)
        for _ in range(10):
            clock.advance(each)

    threads = [threading.Thread(target=advance_ten_times) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert SimulatedClock(path).now() == EPOCH + 80 * each
    assert not list(tmp_path.glob("*.new"))


def test_a_time_line_is_started_once(simulated: SimulatedClock) -> None:
    simulated.start(EPOCH, speed=1)
    with pytest.raises(Problem, match="exists already"):
        simulated.start(EPOCH, speed=1)
    assert simulated.exists()


@pytest.mark.parametrize("speed", [-1, 1e8, float("nan"), float("inf")])
def test_it_refuses_impossible_speeds(simulated: SimulatedClock, speed: float) -> None:
    with pytest.raises(Problem, match="between 0 and 10,000,000"):
        simulated.start(EPOCH, speed=speed)
    assert not simulated.exists()


@pytest.mark.parametrize("ask", [SimulatedClock.now, SimulatedClock.resume])
def test_a_missing_file_says_how_to_start(
    simulated: SimulatedClock, ask: Callable[[SimulatedClock], object]
) -> None:
    with pytest.raises(Problem, match=r"manage\.py clock start"):
        ask(simulated)


@pytest.mark.parametrize("text", ["", "{}", "[]", "[[1]]", '[["a", "b", "c"]]', "null"])
def test_a_damaged_file_is_one_sentence(
    tmp_path: Path, simulated: SimulatedClock, text: str
) -> None:
    (tmp_path / "clock.json").write_text(text)
    with pytest.raises(Problem, match="is damaged"):
        simulated.now()
