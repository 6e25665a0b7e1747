"""Experiments: what the defaults, the cost model and the search are chosen by."""
