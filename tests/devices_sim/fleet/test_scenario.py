"""Scenarios: those that ship can be read, and a wrong file gets a sentence."""

import pytest

from aggregation.errors import Problem
from devices_sim.fleet.scenario import load_scenario, scenario_names

SMALL = 'description = "One city"\nseed = 1\nphones = 10\n[places]\n2950159 = 1\n'


def refusal(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(Problem) as found:
        load_scenario(str(path))
    return str(found.value)


def test_it_reads_all_that_ship():
    assert scenario_names() == ["commute", "demo", "holiday", "hostile", "outage", "soak", "world"]
    for name in scenario_names():
        assert load_scenario(name).name == name


def test_a_file_of_ones_own_is_read_by_its_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SMALL)
    assert load_scenario(str(path), phones=20).phones == 20
    assert load_scenario(str(path)).name == "mine"


def test_the_demo_is_30_000_phones_in_24_cities():
    demo = load_scenario("demo")
    assert (demo.phones, len(demo.places)) == (30_000, 24)


def test_an_unknown_scenario_gets_the_nearest_name():
    with pytest.raises(Problem, match="Did you mean holiday"):
        load_scenario("holidays")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("phone = 3", "A scenario knows no phone. Did you mean phones?"),
        ("[unusual]\nofline = 0.1", "knows no unusual.ofline. Did you mean offline?"),
        (
            "[[holidays]]\nweeks = [1]\n[holidays.habits]\nfare = 2",
            "habits.fare. Did you mean far?",
        ),
        ("[unusual]\noffline = 1.5", "offline is a share from 0 to 1, not 1.5."),
        ("[hostile]\nshare = 0.5", "Hostile phones need kinds"),
        ("[habits.leisure]\nswimming = 2", "'swimming' is no activity"),
        ("[habits]\nfar = -1", "The factor of far is from 0 to 100"),
        ("[[outages]]\ncountry = 'JP'\nstart_hours = 1\nhours = 0", "The outage of JP"),
        ("[consents]\ntrips = 'all'", "does not fit"),
        ("outages = 3", "does not fit"),
        ("[[[", "cannot be read"),
    ],
)
def test_a_wrong_file_gets_a_sentence(tmp_path, line, sentence):
    top, _, places = SMALL.partition("[places]")
    text = f"{SMALL}{line}" if line.startswith("[") else f"{top}{line}\n[places]{places}"
    assert sentence in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("phones = 10", "phones = 0", "at least one phone"),
        ("seed = 1", "seed = -1", "The seed is"),
        ("2950159 = 1", "2950159 = 0", "a weight above 0"),
        ("2950159 = 1", "", "a weight above 0"),
        ("phones = 10", "phones = 10\nmost_wake_ups = 3", "most_wake_ups is 0, 1 or 2"),
        ('description = "One city"', "", "does not fit"),
    ],
)
def test_a_wrong_number_gets_a_sentence(tmp_path, before, after, sentence):
    assert sentence in refusal(tmp_path, SMALL.replace(before, after))


def test_what_is_unusual_happens_within_the_horizon():
    with pytest.raises(Problem, match="horizon_weeks is from 1 to 104, not 0"):
        load_scenario("demo", horizon_weeks=0)
