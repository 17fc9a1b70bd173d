"""Comparing mechanisms on made-up populations, as the paper does."""

from portal.lab.comparing.comparison import compare

__all__ = ["compare"]
