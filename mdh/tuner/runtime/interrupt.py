"""Ctrl-C and SIGTERM during a run: the first asks it to end, the second ends the process at once."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from mdh.ending import CODES, guard, guarded, unguard

T = TypeVar("T")


class Interrupt:
    """An interrupt by the user. Waiting tasks see it within one iteration of the event loop."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: signal.Signals | None = None

    def ask(self, number: signal.Signals) -> None:
        self.signal = self.signal or number
        self.event.set()

    @property
    def asked(self) -> bool:
        return self.event.is_set()


async def unless_asked(
    interrupt: Interrupt, work: Coroutine[Any, Any, T], timeout: float | None = None
) -> T | None:
    """The result of `work`; None if the user ended it before, or so many seconds were over."""
    task = asyncio.ensure_future(work)
    try:
        await until(interrupt, task, timeout=timeout)
        if task.done():
            return task.result()
    finally:
        task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return None


async def until(interrupt: Interrupt, *tasks: "asyncio.Task[T]", timeout: float | None = None) -> None:
    """Waits until one of the tasks is done, the user asks for the end, or so many seconds are over."""
    asked = asyncio.ensure_future(interrupt.event.wait())
    try:
        await asyncio.wait({*tasks, asked}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()


@contextmanager
def on_signals(interrupt: Interrupt, said: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Handles SIGINT and SIGTERM in the event loop of this thread, which must be the main one. `said` may
    tell the user. A run that does not end by itself is ended by the process's guard, even if the loop is
    stuck: all results are on disk. A second signal ends the process at once."""
    loop = asyncio.get_running_loop()

    def handle(number: signal.Signals) -> None:
        interrupt.ask(number)
        said(number)

    def told(number: signal.Signals) -> None:
        with suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(handle, number)

    own = not guarded()
    held = guard()
    before = {number: signal.signal(number, _noted) for number in CODES}
    held.told = told
    try:
        yield
    finally:
        held.told = None
        for number, handler in before.items():
            signal.signal(number, handler)
        if own:
            unguard()


def _noted(number: int, frame: object) -> None:
    """Does nothing: the guard learns of the signal in another way. But Python notes only signals that have a
    handler."""
