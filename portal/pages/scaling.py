"""Scale on paper: from measured costs to machines, bandwidth, storage and money. Pure arithmetic.

/docs/scaling shows what this computes, and a test keeps the two alike. Costs are measured; how
devices behave and what things cost to rent are assumptions, and are marked as such.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DAY_SECONDS = 86_400
SIZES = (1_000_000, 100_000_000, 500_000_000)


@dataclass(frozen=True)
class Costs:
    """Measured, with two weekly tasks over 1.35 million cells of three metrics."""

    # Processor time in µs: all calls of one device in one week, uploads among them.
    front_end_us_per_device: float = 1700.0
    # … and of one upload.
    session_us_per_upload: float = 140.0
    valkey_us_per_upload: float = 9.5
    # Over HTTP, without TLS, for one device in one week.
    bytes_up_per_device: float = 3_900.0
    bytes_down_per_device: float = 6_200.0
    # In memory, while it waits in a queue.
    bytes_per_waiting_upload: float = 2_000.0
    # A session's partial by how many devices are in it, and what a device leaves beside it.
    partial_bytes: tuple[tuple[int, float], ...] = (
        (10_000, 2.7e6),
        (100_000, 32.4e6),
        (1_000_000, 32.4e6),
    )
    receipt_bytes_per_upload: float = 8.0
    release_cpu_seconds: float = 4.9
    release_memory_mb: float = 360.0
    release_row_mb: float = 12.0
    release_files_mb: float = 6.0


@dataclass(frozen=True)
class Assumptions:
    """How devices behave, and list prices."""

    tasks: int = 2
    wake_ups_per_week: int = 2
    # All devices send within one day; at its busiest hour so many times the mean.
    peak: float = 2.0
    # Processors are planned to be busy for this share of the time.
    busy: float = 0.5
    # Of one wake-up: a handshake, at the proxy.
    tls_us: float = 500.0
    tls_bytes_down: float = 4_000.0
    # What a database server writes steadily, rows and log together.
    database_bytes_per_second: float = 50e6
    # Releases are kept, so many weeks of them.
    weeks_kept: int = 52
    # Dollars: a virtual processor with 4 GB for a month, a GB of disk for a month, a GB sent out.
    core_month: float = 37.0
    disk_gb_month: float = 0.10
    sent_gb: float = 0.08


@dataclass(frozen=True)
class Limit:
    """A part that is full at so many devices, if there is one of it."""

    part: str
    devices: float
    answer: str


@dataclass(frozen=True)
class Plan:
    """What so many devices a week need."""

    devices: int
    costs: Costs
    assumed: Assumptions

    @property
    def peak_devices_per_second(self) -> float:
        return self.devices / DAY_SECONDS * self.assumed.peak

    @property
    def peak_uploads_per_second(self) -> float:
        return self.peak_devices_per_second * self.assumed.tasks

    @property
    def front_end_cores(self) -> int:
        return self._cores(self.peak_devices_per_second * self.costs.front_end_us_per_device)

    @property
    def proxy_cores(self) -> int:
        each = self.assumed.wake_ups_per_week * self.assumed.tls_us
        return self._cores(self.peak_devices_per_second * each)

    @property
    def session_cores(self) -> int:
        return self._cores(self.peak_uploads_per_second * self.costs.session_us_per_upload)

    @property
    def valkey_cores(self) -> int:
        return self._cores(self.peak_uploads_per_second * self.costs.valkey_us_per_upload)

    @property
    def busy_cores(self) -> float:
        """What the four of them really do at the peak; at small sizes they can share a machine."""
        uploads = self.costs.session_us_per_upload + self.costs.valkey_us_per_upload
        tls = self.assumed.wake_ups_per_week * self.assumed.tls_us
        each = self.costs.front_end_us_per_device + tls + self.assumed.tasks * uploads
        return self.peak_devices_per_second * each / 1e6

    @property
    def cores(self) -> int:
        """At least one of each, with two for jobs, and four for the database."""
        own = self.front_end_cores + self.session_cores + self.valkey_cores + self.proxy_cores
        return own + 2 + 4

    @property
    def devices_per_session(self) -> int:
        """The smallest of the sizes that were measured with which few sessions begin a second."""
        for size, _ in self.costs.partial_bytes:
            if self.peak_uploads_per_second / size <= 0.25:
                return size
        return self.costs.partial_bytes[-1][0]

    @property
    def sessions_a_week(self) -> int:
        return math.ceil(self.devices * self.assumed.tasks / self.devices_per_session)

    @property
    def partials_gb(self) -> float:
        """Written in a week; erased once they are merged."""
        return self.sessions_a_week * dict(self.costs.partial_bytes)[self.devices_per_session] / 1e9

    @property
    def receipts_gb(self) -> float:
        """Until the window is released."""
        return self.devices * self.assumed.tasks * self.costs.receipt_bytes_per_upload / 1e9

    @property
    def releases_gb(self) -> float:
        """Kept: rows and files of all weeks. The same for any number of devices."""
        each = self.costs.release_row_mb + self.costs.release_files_mb
        return self.assumed.tasks * self.assumed.weeks_kept * each / 1000

    @property
    def disk_gb(self) -> float:
        """At its fullest, with the log of writes beside it."""
        return 2 * (self.partials_gb + self.receipts_gb) + self.releases_gb

    @property
    def sent_gb_a_month(self) -> float:
        handshakes = self.assumed.wake_ups_per_week * self.assumed.tls_bytes_down
        each = self.costs.bytes_down_per_device + handshakes
        return self.devices * each * 52 / 12 / 1e9

    @property
    def peak_mbit_in(self) -> float:
        return self.peak_devices_per_second * self.costs.bytes_up_per_device * 8 / 1e6

    @property
    def queue_gb_of_a_minute(self) -> float:
        """What waits in memory when sessions stand still for a minute at the peak."""
        waiting = 60 * self.peak_uploads_per_second
        return waiting * self.costs.bytes_per_waiting_upload / 1e9

    @property
    def dollars_a_month(self) -> float:
        prices = self.assumed
        return (
            self.cores * prices.core_month
            + self.disk_gb * prices.disk_gb_month
            + self.sent_gb_a_month * prices.sent_gb
        )

    def _cores(self, busy_us_per_second: float) -> int:
        return max(1, math.ceil(busy_us_per_second / 1e6 / self.assumed.busy))


def plan(devices: int, costs: Costs | None = None, assumed: Assumptions | None = None) -> Plan:
    return Plan(devices, costs or Costs(), assumed or Assumptions())


def limits(costs: Costs | None = None, assumed: Assumptions | None = None) -> list[Limit]:
    """Where one of each part is full, the first first."""
    costs, assumed = costs or Costs(), assumed or Assumptions()
    each_second = assumed.peak / DAY_SECONDS
    uploads = assumed.tasks * each_second
    written = 2 * (costs.partial_bytes[0][1] / costs.partial_bytes[0][0] + 8) * uploads
    found = [
        Limit(
            "one front end process",
            1e6 / costs.front_end_us_per_device / each_second,
            "more of them behind the load balancer: they share nothing but Valkey and the database",
        ),
        Limit(
            "one core of a session worker",
            1e6 / costs.session_us_per_upload / uploads,
            "more session workers, or MAYFLY_OPENERS: a task gets as many sessions as it needs",
        ),
        Limit(
            "one Valkey for the queues",
            1e6 / costs.valkey_us_per_upload / uploads,
            "Valkey's I/O threads; beyond that, an installation of its own for some populations",
        ),
        Limit(
            "one database, with sessions of 10,000 devices",
            assumed.database_bytes_per_second / written,
            "a larger max_contributions: a partial stops growing when every cell is touched",
        ),
    ]
    return sorted(found, key=lambda limit: limit.devices)


def first_bottleneck(devices: int, already: int = 0) -> Limit | None:
    """What is full first on the way from a size that is mastered already to this one."""
    return next((one for one in limits() if already < one.devices <= devices), None)
