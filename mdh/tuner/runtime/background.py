"""Runs calls that may block for long (storages, records, folders) in threads that nobody has to wait for.

With `asyncio.to_thread` the interpreter waits for those threads before it exits. So a file system that never
answers would keep an interrupted process alive. `mdh.ending.leave` knows of the threads made here.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from mdh.ending import BACKGROUND

T = TypeVar("T")


class BackgroundThread:
    """One thread, which does one piece of work after another. It is reused because the C library keeps free
    memory for each thread, so a process would grow with each new one."""

    def __init__(self) -> None:
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def do(self, work: Callable[[], T]) -> T:
        """The result or exception of `work`. If the caller is cancelled, work that has begun continues, and
        its result is dropped."""
        future: Future[T] = Future()
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=BACKGROUND, daemon=True)
            self._thread.start()
        self._todo.put(partial(_carry_out, work, future))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Ends the thread once it has done its work."""
        self._todo.put(None)

    def _serve(self) -> None:
        while (run := self._todo.get()) is not None:
            run()
            # otherwise the work and its result would stay in memory until there is more to do
            del run


def _carry_out(work: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as caught:
        # an error of any kind is raised where the result is awaited; in this thread it would be lost
        future.set_exception(caught)


async def in_background(work: Callable[[], T]) -> T:
    """Does one piece of work in a new thread."""
    thread = BackgroundThread()
    try:
        return await thread.do(work)
    finally:
        thread.close()
