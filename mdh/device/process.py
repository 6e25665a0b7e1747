"""Detects forked processes, which have their parent's memory but not its runtime's threads."""

import os
from functools import cache

from mdh.diagnostics import fail


def same_process(runtime: str) -> None:
    """Call it before using anything of `runtime` (`OpenCL`, `CUDA`). The first call remembers its process.
    Raises Failed D107 in a process forked from it, where the runtime would hang."""
    if _starter(runtime) != os.getpid():
        headline = (
            f"this process was forked after {runtime} was in use, and {runtime} does not survive a fork"
        )
        hint = (
            'start processes afresh, multiprocessing.get_context("spawn"), or use devices in the child alone'
        )
        raise fail("D107", headline, help=hint)


@cache
def _starter(runtime: str) -> int:
    return os.getpid()
