"""When one contestant's threads have gone to sleep, so that the next has the processors for itself."""

from time import perf_counter, process_time, sleep

_STEP, _AWAKE, _PATIENCE = 0.02, 0.1, 1.0
"""Seconds between two looks, the share of them that idle threads may take, and the most that is waited."""


def calm() -> None:
    """Waits until this process's threads sleep. Those of libraries look for work for up to 0.2 s after a call
    (OpenBLAS 0.1 s, Intel's OpenMP 0.2 s), and would take cores from whoever is timed next."""
    end = perf_counter() + _PATIENCE
    while perf_counter() < end:
        before = process_time()
        sleep(_STEP)
        if process_time() - before < _AWAKE * _STEP:
            return
