"""Partials: sums that wait for their window's release, encrypted, under keys that are erased."""
