"""Tuning on many machines: workers of a Dask cluster build and measure, each with the bench of its
machine."""
