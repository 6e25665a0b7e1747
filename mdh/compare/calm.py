"""Waits until one contestant's threads sleep, so that the next has the processors for itself."""

from time import perf_counter, process_time, sleep

_STEP, _AWAKE, _PATIENCE = 0.02, 0.1, 1.0
"""Seconds between two checks, the share of a processor that idle threads may use, the longest wait."""


def calm() -> None:
    """Waits until this process's threads sleep. Threads of libraries look for work for up to 0.2 s after a
    call (OpenBLAS 0.1 s, Intel's OpenMP 0.2 s), and would take cores from what is timed next."""
    end = perf_counter() + _PATIENCE
    while perf_counter() < end:
        before = process_time()
        sleep(_STEP)
        if process_time() - before < _AWAKE * _STEP:
            return
