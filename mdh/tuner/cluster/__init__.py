"""Tuning on many machines: workers of a Dask cluster, each with the bench of its machine."""
