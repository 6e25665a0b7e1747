"""Detects forked processes, which have their parent's memory but not its runtime's threads."""

import os

from mdh.diagnostics import fail

_used: set[str] = set()
"""Runtimes in use in this process, or in one that it was forked from."""
lost: set[str] = set()
"""Those that were in use when this process was forked. While it is empty, `same_process` raises nothing."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: lost.update(_used))


def same_process(runtime: str) -> None:
    """Call it before using anything of `runtime` (`OpenCL`, `CUDA`). Raises Failed D107 in a process that was
    forked after the first such call, where the runtime would hang."""
    _used.add(runtime)
    if runtime in lost:
        headline = (
            f"this process was forked after {runtime} was in use, and {runtime} does not survive a fork"
        )
        hint = (
            'start processes afresh, multiprocessing.get_context("spawn"), or use devices in the child alone'
        )
        raise fail("D107", headline, help=hint)
