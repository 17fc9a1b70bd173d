"""Populations that devices name."""

from aggregation.protocol.messages import Code
from portal.device_api.answers import Refusal
from portal.device_api.snapshot import View


def known(population: str, view: View) -> str:
    """The population, if operators have made one of this name."""
    if population in view.snapshot.populations:
        return population
    raise Refusal(
        422,
        Code.UNKNOWN_POPULATION,
        "There is no population of this name.",
        "Operators make populations; a device names the one it was set up with.",
    )
