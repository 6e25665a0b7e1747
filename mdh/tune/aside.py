"""Calls that may block for long, in threads that nobody has to wait for: storages, records, folders.

`asyncio.to_thread` would do but for its end: the interpreter waits for those threads before it exits, so a
file system that never answers would keep an interrupted process alive. `mdh.ending.leave` knows of these.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from mdh.ending import ASIDE

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
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
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            # the loop is closed: nobody waits any more
            return

    threading.Thread(target=run, name=ASIDE, daemon=True).start()
    return await future
