"""The estimate of a query's energy: the paper's at the paper's figures, and never kinder."""

import pytest

from devices_sim.fleet.cost import Network, battery_percent, query_joules


@pytest.mark.parametrize(("network", "joules"), [(Network.WIFI, 3.0), (Network.CELLULAR, 3.5)])
def test_it_is_the_paper_s_at_the_paper_s_figures(network: Network, joules: float) -> None:
    found = query_joules(total_bytes=15_000, cpu_seconds=1.0, network=network)
    assert found == pytest.approx(joules)
    # "less than 0.035% of a typical 3000mAh battery", and a seventh of it a day.
    assert battery_percent(found) < 0.035
    assert battery_percent(found) / 7 < 0.005


def test_few_bytes_still_wake_the_radio() -> None:
    few, none = (
        query_joules(total_bytes=n, cpu_seconds=0.0, network=Network.WIFI) for n in (100, 0)
    )
    assert few == none == pytest.approx(3.0 * 7.5 / 8.5)


def test_more_of_anything_costs_more() -> None:
    def cost(n: int, seconds: float) -> float:
        return query_joules(total_bytes=n, cpu_seconds=seconds, network=Network.CELLULAR)

    assert cost(30_000, 0.0) == pytest.approx(2 * cost(15_000, 0.0))
    assert cost(9_000, 0.5) > cost(9_000, 0.1)
    assert query_joules(total_bytes=9, cpu_seconds=1, network=Network.WIFI) < cost(9, 1)


def test_a_battery_holds_about_forty_kilojoules() -> None:
    assert battery_percent(39_960) == pytest.approx(100)
