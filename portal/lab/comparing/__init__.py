"""Comparing mechanisms on made-up populations, as the paper does."""
