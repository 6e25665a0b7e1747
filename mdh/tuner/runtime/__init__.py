"""The tuner's own process: signals that end a run, threads that may be abandoned, and processors."""
