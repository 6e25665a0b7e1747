"""Posts: each keeps one worker process and replaces it when it is lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from time import monotonic

from mdh.diagnostics import Failed
from mdh.tuner.measure.failures import of_the_machine, signal_name, unstarted
from mdh.tuner.measure.guardian import Guardian
from mdh.tuner.measure.outage import Say, silent
from mdh.tuner.measure.outcomes import Kills
from mdh.tuner.measure.process import Command, Died, Late, Worker
from mdh.tuner.measure.progress import Progress
from mdh.tuner.measure.wire import Json, read_failed

START = 120.0
"""Seconds that a new worker has to import its libraries, open its device and read the program."""
_AGAIN, _TIMES = 20.0, 10
"""The limit for the start of a replacement is _AGAIN seconds or _TIMES the last start, whichever is more. So
a worker that was stopped at its start is given up soon. After each late one the limit is doubled, up to
START."""
_ATTEMPTS = 4
_BACK_OFF = 0.5
"""Seconds before the second attempt to start a worker. Each further pause is twice as long."""
_LONGEST = 8.0
RETIRE = 500
"""Requests after which a worker is replaced, because device runtimes keep something of every kernel."""


class Quiet:
    """Keeps other workers stopped during timed runs on a device that shares the host's cores: one timed run
    at a time if `needed` (CPU devices); no effect otherwise.

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


class Post:
    """about: what its first worker reported of the device. proved: a worker has already read the program and
    the machine, so the machine is at fault if another one is refused. seconds: what the last start took."""

    def __init__(
        self, spec: str, command: Command, quiet: Quiet, progress: Progress | None,
        guardian: Guardian | None = None, kills: Kills | None = None, *, proved: bool = False,
    ) -> None:  # fmt: skip
        self.spec, self.command, self.quiet, self.progress = spec, command, quiet, progress
        self.guardian, self.kills, self.proved = guardian, kills or Kills(), proved
        self._limit = START
        self.seconds = 0.0
        self.about: Json = {}
        self._worker: Worker | None = None
        self._served = 0
        self._starting = asyncio.Lock()
        self._renewal: asyncio.Task[None] | None = None
        self._closed = False

    async def worker(self) -> Worker:
        """The worker, or a new one if the last is gone. Raises Failed D133 if it does not start. Until a
        worker has read the program, also raises the device's own D1xx and errors of the program."""
        async with self._starting:
            worker = self._worker
            if worker is None or not worker.running:
                if worker is not None and worker.alive:
                    # it was killed while it had nothing to do, and its children live on
                    await worker.kill()
                    self.kills.elsewhere()
                worker = await self._start()
                self._served = 0
            self._served += 1
            return worker

    async def first(self) -> Worker:
        """The first worker. Errors of the device are raised at once; only a worker that ends without a
        message is tried again."""
        pause = _BACK_OFF
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self.worker()
            except Failed as failed:
                if failed.diagnostics[0].code != "D133":
                    raise
            await asyncio.sleep(pause)
            pause *= 2
        return await self.worker()

    async def refresh(self) -> None:
        """Makes sure that the next request gets a new process."""
        async with self._starting:
            if self._worker is not None and self._served:
                await self._worker.kill()

    async def renew(self) -> None:
        """Replaces a lost or worn worker before its next use."""
        worker = self._worker
        if worker is not None and worker.running and self._served >= RETIRE:
            await worker.kill()
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
        # a failure shows again to whoever needs the worker next
        with suppress(Failed):
            await self.worker()
        self._renewal = None

    async def _start(self) -> Worker:
        if self._closed:
            raise unstarted("the tuner is closing")
        try:
            # it belongs to the post before its first message, so that closing ends it too
            worker = self._worker = await Worker.start(self.command, self.guardian)
        except OSError as error:
            raise unstarted(f"the system starts none: {error.strerror}") from None
        try:
            await self._greeted(worker)
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def _greeted(self, worker: Worker) -> None:
        self.quiet.add(worker)
        begun, limit = monotonic(), self._limit
        try:
            hello = await worker.ask(None, limit)
        except Late:
            # it may have been stopped, or the machine has become slow
            self._limit = min(START, 2 * limit)
            raise unstarted(f"it says nothing in {limit:.0f} s") from None
        except Died as died:
            self.kills.elsewhere()
            how = signal_name(-died.status) if died.status < 0 else f"status {died.status}"
            raise unstarted(f"it ends with {how}: {died.words}") from None
        if "failed" in hello:
            failed = read_failed(hello["failed"])
            if self.proved and not of_the_machine(failed.diagnostics):
                first = failed.diagnostics[0]
                raise unstarted(f"{first.code}, which another worker did not meet: {first.headline}")
            raise failed
        self.about, self.proved = self.about or hello, True
        self.seconds = monotonic() - begun
        self._limit = min(START, max(_AGAIN, _TIMES * self.seconds))


class Posts:
    """Several posts; a request takes a free one. say: called with remarks for the user."""

    def __init__(self, posts: tuple[Post, ...], say: Say = silent) -> None:
        self.all = posts
        self._say = say
        self._left = len(posts)
        self._free: asyncio.Queue[Post | None] = asyncio.Queue()
        self._failed: Failed | None = None
        self._resting: set[asyncio.Task[None]] = set()
        self._pauses = dict.fromkeys(posts, _BACK_OFF)
        self._told: set[Post] = set()
        self._closed = False
        for post in posts:
            self._free.put_nowait(post)

    @asynccontextmanager
    async def taken(self, *, fresh: bool = False) -> AsyncIterator[tuple[Post, Worker]]:
        """A free post and its worker. fresh: one that has done nothing yet. A post whose worker does not
        start is left alone for a while. Raises Failed if the program is refused, or if no post has a worker
        now; then the next call tries again."""
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
                # wakes up everyone who waits
                self._free.put_nowait(None)
                assert self._failed is not None
                raise self._failed
            try:
                if fresh:
                    await post.refresh()
                worker = await post.worker()
            except Failed as failed:
                self._lose(post, failed)
            except asyncio.CancelledError:
                self._free.put_nowait(post)
                raise
            else:
                self._pauses[post] = _BACK_OFF
                return post, worker

    def _lose(self, post: Post, failed: Failed) -> None:
        """Takes a post out of use. Raises `failed` if no other post is left for now."""
        if self._closed:
            self._free.put_nowait(post)
            raise failed
        if not of_the_machine(failed.diagnostics):
            self._left -= 1
            if not self._left:
                self._failed = failed
                self._free.put_nowait(None)
            return
        task = asyncio.create_task(self._rest(post))
        self._resting.add(task)
        task.add_done_callback(self._resting.discard)
        if len(self._resting) >= self._left:
            raise failed
        if post not in self._told:
            self._told.add(post)
            first = failed.diagnostics[0]
            self._say(f"{first.code}: {post.spec}: {first.headline}; it is tried again, and others go on")

    async def _rest(self, post: Post) -> None:
        pause = self._pauses[post]
        self._pauses[post] = min(2 * pause, _LONGEST)
        try:
            await asyncio.sleep(pause)
        finally:
            self._free.put_nowait(post)

    async def close(self) -> None:
        self._closed = True
        for task in self._resting:
            task.cancel()
        await asyncio.gather(*(post.close() for post in self.all))
