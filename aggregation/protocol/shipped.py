"""The streams that ship: `trips` and `assistant`. Their names and columns are a contract."""

from collections.abc import Sequence

from aggregation.protocol.domains import Domain
from aggregation.protocol.streams import (
    EVENT_TIME,
    HOURS,
    STAMPED,
    WEEKDAYS,
    Catalog,
    Column,
    Stream,
)

ACTIVITIES = Domain(
    [
        "walking",
        "running",
        "cycling",
        "motorcycling",
        "driving",
        "bus",
        "train",
        "subway",
        "flying",
    ]
)
DIRECTIONS = Domain(["within", "outbound", "inbound"])
FEATURES = Domain(["summarise", "reply", "transcribe", "translate", "search"])
OUTCOMES = Domain(["accepted", "edited", "dismissed", "failed"])
RATINGS = Domain([1, 2, 3, 4, 5])


def shipped_catalog(*, regions: Sequence[str], countries: Sequence[str]) -> Catalog:
    """The two streams over the given places: 50,000 GeoNames ids in the portal, 12 in tests."""
    region_domain, country_domain = Domain(regions), Domain(countries)
    streams = [_trips(region_domain, country_domain), _assistant()]
    domains = [region_domain, country_domain, ACTIVITIES, DIRECTIONS]
    domains += [FEATURES, OUTCOMES, RATINGS, HOURS, WEEKDAYS]
    return Catalog({s.name: s for s in streams}, {d.sha256: d for d in domains})


def _trips(regions: Domain, countries: Domain) -> Stream:
    return Stream(
        name="trips",
        title="Trips",
        description=(
            "One row per trip the phone recognised: where it was, how its owner travelled, "
            "how far and how long."
        ),
        ttl_days=30,
        columns=(
            Column(
                name="region",
                type="text",
                domain=regions.sha256,
                description="Place the trip touches, as its GeoNames id.",
            ),
            Column(
                name="country",
                type="text",
                domain=countries.sha256,
                description="Country of the region, ISO 3166 alpha-2.",
            ),
            Column(
                name="activity",
                type="text",
                domain=ACTIVITIES.sha256,
                description="How the trip was made.",
            ),
            Column(
                name="direction",
                type="text",
                domain=DIRECTIONS.sha256,
                description="Within the region, out of it, or into it.",
            ),
            Column(
                name="distance_km",
                type="real",
                unit="km",
                minimum=0.0,
                typical=(0.3, 60.0),
                description="Length of the trip.",
            ),
            Column(
                name="duration_min",
                type="real",
                unit="min",
                minimum=0.0,
                typical=(3.0, 90.0),
                description="Time from start to end of the trip.",
            ),
            EVENT_TIME,
            *STAMPED,
        ),
    )


def _assistant() -> Stream:
    return Stream(
        name="assistant",
        title="Assistant",
        description="One row per use of an on-device assistant feature, and what came of it.",
        ttl_days=30,
        columns=(
            Column(
                name="feature",
                type="text",
                domain=FEATURES.sha256,
                description="What the assistant was asked to do.",
            ),
            Column(
                name="outcome",
                type="text",
                domain=OUTCOMES.sha256,
                description="What the person did with the answer.",
            ),
            Column(
                name="rating",
                type="integer",
                domain=RATINGS.sha256,
                nullable=True,
                minimum=1.0,
                typical=(1.0, 5.0),
                description="Stars the person gave, 1 to 5; empty where none were given.",
            ),
            Column(
                name="latency_ms",
                type="real",
                unit="ms",
                minimum=0.0,
                typical=(80.0, 2500.0),
                description="Time until the answer was shown.",
            ),
            EVENT_TIME,
            *STAMPED,
        ),
    )
