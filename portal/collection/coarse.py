"""Counts of devices and updates as people may see them: two significant digits, "< 1000" below.

An exact count published beside a noised release would tell whether one device took part.
"""

SMALLEST = 1000


def coarse(count: int) -> str:
    return f"{coarse_number(count):,}" if count >= SMALLEST else f"< {SMALLEST}"


def coarse_number(count: int) -> int:
    """The same for programs: 0 stands for everything below 1000."""
    if count < SMALLEST:
        return 0
    step = 10 ** (len(str(count)) - 2)
    return (count + step // 2) // step * step
