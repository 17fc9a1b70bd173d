"""Scale on paper: the page says what the arithmetic says, and the arithmetic what it should."""

import json
from dataclasses import replace

import pytest
from django.core.management import call_command

from aggregation.errors import Problem
from portal.pages import scaling_table
from portal.pages.scaling import SIZES, Assumptions, Costs, first_bottleneck, limits, plan
from tests.portal.pages.reading_docs import tables


def page() -> dict[str, list[list[list[str]]]]:
    found: dict[str, list[list[list[str]]]] = {}
    for heading, rows in tables("scaling"):
        found.setdefault(heading, []).append(rows)
    return found


@pytest.mark.parametrize(
    ("heading", "number", "rows"),
    [
        ("What they need", 0, scaling_table.needs),
        ("What is full first", 0, scaling_table.bottlenecks),
        ("What is full first", 1, scaling_table.all_limits),
        ("What was measured", 0, scaling_table.costs),
        ("What is assumed", 0, scaling_table.assumptions),
    ],
)
def test_the_page_has_the_figures_of_the_arithmetic(heading, number, rows):
    assert page()[heading][number] == [list(row) for row in rows()]


def test_what_grows_with_devices_grows_and_releases_do_not():
    small, large = plan(SIZES[0]), plan(SIZES[2])
    assert large.peak_uploads_per_second == pytest.approx(500 * small.peak_uploads_per_second)
    assert large.sent_gb_a_month == pytest.approx(500 * small.sent_gb_a_month)
    assert large.releases_gb == small.releases_gb
    assert large.dollars_a_month > small.dollars_a_month


def test_a_core_holds_what_it_is_planned_for():
    """At the planned size, no kind of process is busier than was allowed."""
    for size in SIZES:
        one = plan(size)
        busy = one.peak_uploads_per_second * one.costs.session_us_per_upload / 1e6
        assert busy <= one.session_cores * one.assumed.busy
        assert one.busy_cores <= one.cores * one.assumed.busy


def test_a_dearer_upload_is_full_earlier():
    cheap, dear = Costs(), replace(Costs(), session_us_per_upload=2 * Costs().session_us_per_upload)
    at = {one.part: one.devices for one in limits(cheap)}
    later = {one.part: one.devices for one in limits(dear)}
    assert later["one core of a session worker"] == at["one core of a session worker"] / 2
    assert later["one front end process"] == at["one front end process"]


def test_bottlenecks_come_one_after_the_other():
    assert first_bottleneck(SIZES[0]) is None
    first = first_bottleneck(SIZES[1], SIZES[0])
    then = first_bottleneck(SIZES[2], SIZES[1])
    assert first.devices < then.devices <= SIZES[2]


def test_the_command_tells_the_same(capsys):
    call_command("scaling", "--json")
    told = json.loads(capsys.readouterr().out)
    assert [one["devices"] for one in told["plans"]] == list(SIZES)
    assert told["plans"][2]["cores"] == plan(SIZES[2]).cores
    assert told["assumptions"]["core_month"] == Assumptions().core_month
    call_command("scaling", "--devices", "20000000", "--core-month", "0")
    assert "20,000,000 a week" in capsys.readouterr().out


def test_the_command_refuses_what_makes_no_sense():
    with pytest.raises(Problem):
        call_command("scaling", "--devices", "-5")
