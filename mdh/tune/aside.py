"""Calls that may block for long, in threads that nobody has to wait for: storages, records, folders.

`asyncio.to_thread` would do but for its end: the interpreter waits for those threads before it exits, so a
file system that never answers would keep an interrupted process alive. `mdh.ending.leave` knows of these.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

from mdh.ending import ASIDE

T = TypeVar("T")


class Aside:
    """One such thread, which does what it is given in turn. Much work belongs on one thread: the C library
    keeps free memory apart for each thread that asked for some, so many short ones let a process grow."""

    def __init__(self) -> None:
        self._todo: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def do(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises. A caller that is cancelled leaves the thread to itself."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(value: T | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(value)  # type: ignore[arg-type]

        def run() -> None:
            value, error = None, None
            try:
                value = work()
            except BaseException as caught:
                error = caught
            # the loop may be closed: then nobody waits any more
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, value, error)

        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=ASIDE, daemon=True)
            self._thread.start()
        self._todo.put(run)
        return await future

    def close(self) -> None:
        """The thread ends after what it does now."""
        self._todo.put(None)

    def _serve(self) -> None:
        while (run := self._todo.get()) is not None:
            run()
            # what it holds must not live until there is more to do
            del run


async def aside(work: Callable[[], T]) -> T:
    """`work` in a thread of its own."""
    thread = Aside()
    try:
        return await thread.do(work)
    finally:
        thread.close()
