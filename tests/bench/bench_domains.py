"""Finding values in the domain of 50,000 regions, beside a dictionary in memory."""

import random
from collections.abc import Iterator

from aggregation.protocol.domains import Domain
from tests.bench.figures import Figure, seconds_each


def figures() -> Iterator[Figure]:
    ids = [str(100_000 + 37 * n) for n in range(50_000)]
    random.Random(1).shuffle(ids)
    domain, peer = Domain(ids), {value: index for index, value in enumerate(ids)}
    for count in (8, 10_000):
        wanted = random.Random(2).choices(ids, k=count)
        times = max(1, 20_000 // count)
        ours = seconds_each(lambda w=wanted: domain.indices(w), times=times) / count
        floor = seconds_each(lambda w=wanted: [peer.get(v, -1) for v in w], times=times) / count
        name = f"domain.index of {count}"
        yield Figure(name, ours * 1e9, floor * 1e9, "ns per value", "dict of 50,000 (4 MB a copy)")
