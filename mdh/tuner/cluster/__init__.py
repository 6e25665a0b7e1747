"""Many machines: workers of a Dask cluster that build and measure, each with the bench of its machine."""
