"""ε in whole hundredths, as the ledger counts it, and as people write it."""

from decimal import Decimal

from aggregation.errors import Problem


def hundredths_of(epsilon: str) -> int:
    """ε as the ledger counts it; never rounded."""
    exact = Decimal(epsilon) * 100
    if exact != exact.to_integral_value():
        raise Problem(f"ε = {epsilon} has more than two places.", hint="Its step is 0.01.")
    return int(exact)


def in_words(hundredths: int) -> str:
    """ε as people write it: 150 is 1.5."""
    whole, rest = divmod(hundredths, 100)
    return f"{whole}.{rest:02d}".rstrip("0").rstrip(".") if rest else str(whole)
