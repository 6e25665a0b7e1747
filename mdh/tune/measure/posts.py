"""Places where workers stand: a lost worker is replaced, a post where no replacement works is given up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import monotonic

from mdh.diagnostics import Failed, fail
from mdh.tune.measure.failures import of_the_machine, signal_name
from mdh.tune.measure.process import Command, Died, Late, Worker
from mdh.tune.measure.progress import Progress
from mdh.tune.measure.quiet import Quiet
from mdh.tune.measure.wire import Json, read_failed

START = 120.0
"""Seconds in which a new worker has imported its libraries, opened its device and read the program."""
_ATTEMPTS = 5
_BACK_OFF = 0.5
"""Seconds before the second attempt to replace a worker; each further wait is twice as long."""
RETIRE = 500
"""Requests after which a worker is replaced: runtimes of devices keep something of every kernel."""


class Post:
    """about: what its first worker said of the device."""

    def __init__(self, spec: str, command: Command, quiet: Quiet, progress: Progress | None) -> None:
        self.spec, self.command, self.quiet, self.progress = spec, command, quiet, progress
        self.about: Json = {}
        self.recoveries: list[float] = []
        self._worker: Worker | None = None
        self._lost_at: float | None = None
        self._served = 0
        self._starting = asyncio.Lock()
        self._renewal: asyncio.Task[None] | None = None
        self._closed = False

    async def worker(self, attempts: int | None = None) -> Worker:
        """The worker, a new one where the last is gone. Raises Failed: the device's own D1xx, D133 where
        workers end before they say anything, and what the program's text is refused with."""
        async with self._starting:
            worker = self._worker
            if worker is None or not worker.running:
                worker = await self._start(attempts or _ATTEMPTS)
                self._served = 0
            self._served += 1
            return worker

    async def refresh(self) -> None:
        """Sees to it that the next request meets a new process."""
        async with self._starting:
            if self._worker is not None and self._served:
                await self._worker.kill()

    async def renew(self) -> None:
        """Replaces a lost or worn worker ahead of its next use."""
        worker = self._worker
        if worker is not None and worker.running and self._served >= RETIRE:
            await worker.kill()
        elif worker is not None and not worker.running and self._lost_at is None:
            self._lost_at = monotonic()
        if not self._closed and (worker is None or not worker.running) and self._renewal is None:
            self._renewal = asyncio.create_task(self._replace())

    async def close(self) -> None:
        self._closed = True
        if self._renewal is not None:
            self._renewal.cancel()
            with suppress(asyncio.CancelledError):
                await self._renewal
        if self._worker is not None and self._worker.alive:
            await self._worker.kill()
        if self.progress is not None:
            self.progress.close()

    async def _replace(self) -> None:
        # a failure shows again, with all its attempts, to whoever needs the worker next
        with suppress(Failed):
            await self.worker(attempts=1)
        self._renewal = None

    async def _start(self, attempts: int) -> Worker:
        failure = fail("D133", "no worker of the tuner can be started")
        for attempt in range(attempts):
            if attempt:
                await asyncio.sleep(_BACK_OFF * 2 ** (attempt - 1))
            if self._closed:
                raise _unstarted("the tuner is closing")
            try:
                # it is the post's before it has said anything, so that closing ends it too
                worker = self._worker = await Worker.start(self.command)
            except OSError as error:
                failure = _unstarted(f"the system starts none: {error.strerror}")
                continue
            try:
                failure_or_worker = await self._greeted(worker)
            except BaseException:
                await worker.kill()
                raise
            if isinstance(failure_or_worker, Worker):
                return failure_or_worker
            failure = failure_or_worker
            if not of_the_machine(failure.diagnostics):
                break
        raise failure

    async def _greeted(self, worker: Worker) -> Worker | Failed:
        self.quiet.add(worker)
        try:
            hello = await worker.hello(START)
        except Late:
            return _unstarted(f"it says nothing in {START:.0f} s")
        except Died as died:
            how = signal_name(-died.status) if died.status < 0 else f"status {died.status}"
            return _unstarted(f"it ends with {how}: {died.words}")
        if "failed" in hello:
            await worker.kill()
            return read_failed(hello["failed"])
        self.about = self.about or hello
        if self._lost_at is not None:
            self.recoveries.append(monotonic() - self._lost_at)
            self._lost_at = None
        return worker


class Posts:
    """Several posts; whoever needs a worker takes a free one."""

    def __init__(self, posts: tuple[Post, ...]) -> None:
        self.all = posts
        self._left = len(posts)
        self._free: asyncio.Queue[Post | None] = asyncio.Queue()
        self._failed: Failed | None = None
        for post in posts:
            self._free.put_nowait(post)

    @asynccontextmanager
    async def taken(self, *, fresh: bool = False) -> AsyncIterator[tuple[Post, Worker]]:
        """A free post and its worker, `fresh`: one that has not done anything yet. A post whose device is
        lost is given up; raises its Failed where it was the last."""
        post, worker = await self._ready(fresh)
        try:
            yield post, worker
        finally:
            self._free.put_nowait(post)
            await post.renew()

    async def _ready(self, fresh: bool) -> tuple[Post, Worker]:
        while True:
            post = await self._free.get()
            if post is None:
                # all who wait are told
                self._free.put_nowait(None)
                assert self._failed is not None
                raise self._failed
            try:
                if fresh:
                    await post.refresh()
                return post, await post.worker()
            except Failed as failed:
                self._left -= 1
                if self._left == 0:
                    self._failed = failed
                    self._free.put_nowait(None)
            except asyncio.CancelledError:
                self._free.put_nowait(post)
                raise

    async def close(self) -> None:
        await asyncio.gather(*(post.close() for post in self.all))


def _unstarted(why: str) -> Failed:
    hint = "`mdh doctor` says what is missing; `mdh run` on the same device shows it in the open"
    return fail("D133", f"a worker of the tuner does not start: {why}", help=hint)
