"""Aggregation cores: how contributions become one sum, and what may be said of it when."""
