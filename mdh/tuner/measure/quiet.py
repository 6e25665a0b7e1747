"""Keeps other workers stopped during timed runs on a device that shares the host's cores."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mdh.tuner.measure.process import Worker


class Quiet:
    """One timed run at a time if `needed` (CPU devices); no effect otherwise.

    The others are stopped and not waited for, because a compile may take a minute, or never end.
    """

    def __init__(self, needed: bool) -> None:
        self.needed = needed
        self._timing = asyncio.Lock()
        self._workers: set[Worker] = set()

    def add(self, worker: Worker) -> None:
        self._workers = {w for w in self._workers if w.alive} | {worker}
        if self.needed and self._timing.locked():
            worker.pause()

    @asynccontextmanager
    async def around(self, worker: Worker) -> AsyncIterator[None]:
        """Inside, `worker` has the machine for itself."""
        if not self.needed:
            yield
            return
        async with self._timing:
            for other in self._workers - {worker}:
                other.pause()
            try:
                yield
            finally:
                for other in self._workers:
                    other.resume()
