"""The tables of /docs/scaling, in words: the command prints the first, and a test compares the page
with all of them."""

from __future__ import annotations

from portal.pages.scaling import SIZES, Assumptions, Costs, Plan, first_bottleneck, limits, plan

Row = tuple[str, ...]


def needs(plans: list[Plan] | None = None) -> list[Row]:
    """One row a quantity, one column a size."""
    found = plans or [plan(size) for size in SIZES]
    rows = {
        "Devices a second at the peak": [_whole(p.peak_devices_per_second) for p in found],
        "Uploads a second at the peak": [_whole(p.peak_uploads_per_second) for p in found],
        "Cores busy at the peak": [_short(p.busy_cores) for p in found],
        "Cores for front ends": [str(p.front_end_cores) for p in found],
        "Cores for TLS, in the proxy": [str(p.proxy_cores) for p in found],
        "Cores for sessions": [str(p.session_cores) for p in found],
        "Cores for the queues' Valkey": [str(p.valkey_cores) for p in found],
        "Cores in all": [str(p.cores) for p in found],
        "Memory of a minute's queue": [f"{_short(p.queue_gb_of_a_minute)} GB" for p in found],
        "Bandwidth in at the peak": [f"{_short(p.peak_mbit_in)} Mbit/s" for p in found],
        "Sent out in a month": [f"{_short(p.sent_gb_a_month)} GB" for p in found],
        "Devices in a session": [f"{p.devices_per_session:,}" for p in found],
        "Partials written in a week": [f"{_short(p.partials_gb)} GB" for p in found],
        "Receipts until the release": [f"{_short(p.receipts_gb)} GB" for p in found],
        "Releases of a year": [f"{_short(p.releases_gb)} GB" for p in found],
        "Disk at its fullest": [f"{_short(p.disk_gb)} GB" for p in found],
        "Dollars a month": [_short(p.dollars_a_month) for p in found],
    }
    return [(name, *values) for name, values in rows.items()]


def bottlenecks() -> list[Row]:
    """For each size: what is full first on the way there, at how many devices, and the answer."""
    found: list[Row] = []
    before = 0
    for size in SIZES:
        limit = first_bottleneck(size, before)
        found.append(
            (_size(size), limit.part, _size(limit.devices), limit.answer)
            if limit
            else (_size(size), *_NONE)
        )
        before = size
    return found


_NONE = (
    "no part: one machine is enough, but if it fails, everything stops",
    "never",
    "two front ends, two workers of each kind, and a database that somebody keeps",
)


def all_limits() -> list[Row]:
    return [(one.part, _size(one.devices)) for one in limits()]


def costs() -> list[Row]:
    c = Costs()
    return [
        ("Front end, all calls of a device in a week", f"{c.front_end_us_per_device:,.0f} µs"),
        ("Session, an upload", f"{c.session_us_per_upload:g} µs"),
        ("Valkey, an upload", f"{c.valkey_us_per_upload:g} µs"),
        ("Bytes up, a device in a week", f"{c.bytes_up_per_device:,.0f}"),
        ("Bytes down, a device in a week", f"{c.bytes_down_per_device:,.0f}"),
        ("Memory of a waiting upload", f"{c.bytes_per_waiting_upload:,.0f} bytes"),
        *(
            (f"Partial of {devices:,} devices", f"{_short(size / 1e6)} MB")
            for devices, size in c.partial_bytes
        ),
        ("Receipt of an upload", f"{c.receipt_bytes_per_upload:g} bytes"),
        ("Release, processor time", f"{c.release_cpu_seconds:g} s"),
        ("Release, peak memory", f"{c.release_memory_mb:,.0f} MB"),
        ("Release, its row", f"{c.release_row_mb:g} MB"),
        ("Release, its files", f"{c.release_files_mb:g} MB"),
    ]


def assumptions() -> list[Row]:
    a = Assumptions()
    return [
        ("Weekly tasks that each device contributes to", str(a.tasks)),
        ("Wake-ups of a device in a week", str(a.wake_ups_per_week)),
        ("The busiest hour of the day on which all send, beside the mean", f"{a.peak:g} ×"),
        ("Share of the time that processors may be busy", f"{100 * a.busy:g} %"),
        ("A TLS handshake", f"{a.tls_us:g} µs, {a.tls_bytes_down:,.0f} bytes down"),
        ("What a database writes steadily", f"{a.database_bytes_per_second / 1e6:g} MB/s"),
        ("Releases are kept for", f"{a.weeks_kept} weeks"),
        ("A core with 4 GB, a month", f"${a.core_month:g}"),
        ("A GB of disk, a month", f"${a.disk_gb_month:.2f}"),
        ("A GB sent out", f"${a.sent_gb:.2f}"),
    ]


def _size(devices: float) -> str:
    return f"{_short(devices / 1e6)} M"


def _short(number: float) -> str:
    """Two digits below a hundred: the costs are not known better."""
    if number >= 100:
        return f"{float(f'{number:.2g}'):,.0f}"
    return f"{number:.2g}"


def _whole(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"
