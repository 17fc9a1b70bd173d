"""Measurements: `make bench` prints one JSON line a figure, ours beside a peer in the same run."""
