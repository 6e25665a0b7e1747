"""Long tests that are run by hand: faults, signals, races, memory. Their pages lie in `artifacts/`."""
