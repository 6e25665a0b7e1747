"""The tuner's own process: signals that end a run, threads that nobody waits for, processors."""
