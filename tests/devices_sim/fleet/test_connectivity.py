"""Moments of background time, outages, and phones to which something unusual happens."""

from collections import Counter

from devices_sim.fleet.draws import BLOCK
from devices_sim.fleet.unusual import NOTHING
from tests.devices_sim.fleet.small_world import MONDAY, SECONDS, world

HOUR, DAY = 3600, 86_400


def weeks_of(made, phone):
    """Its moments in each of two weeks."""
    for week in range(2):
        yield made.wake_ups(phone, MONDAY + week * SECONDS, MONDAY + (week + 1) * SECONDS)


def test_a_phone_wakes_at_most_twice_a_week_where_the_scenario_says_so():
    made = world("demo", phones=1200, most_wake_ups=2)
    weeks = [week for phone in range(1200) for week in weeks_of(made, phone)]
    assert max(map(len, weeks)) == 2
    assert sum(map(len, weeks)) / len(weeks) < 1.6


def test_the_limit_leaves_weekly_reach_as_it_was():
    few, all_of_them = (world("demo", phones=1200, most_wake_ups=most) for most in (2, 0))
    for phone in range(300):
        for kept, whole in zip(weeks_of(few, phone), weeks_of(all_of_them, phone), strict=True):
            good = [moment for moment in whole if moment[1].idle and not moment[1].missing]
            ends = [good[0], good[-1]] if len(good) > 1 else good
            if not few.unusual(phone).offline:
                assert kept == ends


def test_some_moments_are_in_vain():
    made = world("demo", phones=1200, most_wake_ups=0)
    had = [has for phone in range(600) for week in weeks_of(made, phone) for _, has in week]
    assert any(not has.idle for has in had)
    assert any(not has.network for has in had)
    assert any(has.battery_percent < 30 for has in had)


def test_phones_charge_at_night():
    made = world("demo", phones=1200, most_wake_ups=0)
    local = Counter()
    for phone in range(600):
        ahead = made.places.utc_offset[made.homes[phone]]
        for week in weeks_of(made, phone):
            local.update(int((t + ahead) % DAY // HOUR) for t, has in week if has.charging)
    assert sum(local[hour] for hour in range(7)) > 0.7 * local.total()


def test_an_outage_takes_a_countrys_network_and_gives_it_back():
    made = world("outage", phones=1200, unusual={})
    start, end = MONDAY + 156 * HOUR, MONDAY + 192 * HOUR
    had, after = Counter(), Counter()
    for phone in range(1200):
        country = made.population(phone)
        had.update((country, has.network) for _, has in made.wake_ups(phone, start, end))
        after.update((country, has.network) for _, has in made.wake_ups(phone, end, end + DAY))
    assert had["JP", True] == had["DE", False] == 0
    assert had["JP", False] > 50
    assert after["JP", True] > 10
    assert after["BR", True] == 0


def test_unusual_phones_are_as_many_as_the_scenario_says():
    shares = {"offline": 0.1, "wrong_clock": 0.2, "reinstalled": 0.3, "crashing": 0.4, "new": 0.5}
    made = world("demo", phones=20 * BLOCK, unusual=shares)
    phones = [made.unusual(phone) for phone in range(made.phones)]
    found = {
        "offline": sum(bool(phone.offline) for phone in phones),
        "wrong_clock": sum(bool(phone.clock_error) for phone in phones),
        "reinstalled": sum(bool(phone.reinstalls) for phone in phones),
        "crashing": sum(bool(phone.crashes) for phone in phones),
        "new": sum(made.installed(phone) > made.epoch for phone in range(made.phones)),
    }
    for name, share in shares.items():
        assert abs(found[name] / made.phones - share) < 0.02  # 4 standard errors


def test_a_phone_that_is_offline_has_no_network_then():
    made = world("demo", phones=600, unusual={"offline": 1.0}, most_wake_ups=0)
    moments = 0
    for phone in range(600):
        ((start, end),) = made.unusual(phone).offline
        assert 7 * DAY <= end - start <= 28 * DAY
        had = made.wake_ups(phone, start, end)
        moments += len(had)
        assert not any(has.network for _, has in had)
    assert moments


def test_most_phones_are_not_unusual():
    made = world("demo", phones=1200)
    assert sum(made.unusual(phone) is NOTHING for phone in range(1200)) > 0.95 * 1200


def test_hostile_phones_send_every_kind():
    made = world("hostile", phones=30 * BLOCK)
    kinds = Counter(made.unusual(phone).hostile for phone in range(made.phones))
    honest = kinds.pop("")
    assert set(kinds) == set(made.scenario.hostile.kinds)
    assert 0.975 < honest / made.phones < 0.985
