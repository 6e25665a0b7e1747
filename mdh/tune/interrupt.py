"""Ctrl-C and SIGTERM during a run: the first asks it to end, the second ends the process at once."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


class Interrupt:
    """Set from outside; whoever waits sees it within one turn of the event loop."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: signal.Signals | None = None

    def ask(self, number: signal.Signals) -> None:
        self.signal = self.signal or number
        self.event.set()

    @property
    def asked(self) -> bool:
        return self.event.is_set()


@contextmanager
def on_signals(interrupt: Interrupt, said: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Handles SIGINT and SIGTERM of the running event loop's thread, which must be the main one; `said` may
    tell the user. A second signal leaves everything where it stands: all that matters is on disk."""
    loop = asyncio.get_running_loop()

    def handle(number: signal.Signals) -> None:
        if interrupt.asked:
            os._exit(CODES[number])
        interrupt.ask(number)
        said(number)

    before = {number: signal.getsignal(number) for number in CODES}
    for number in CODES:
        loop.add_signal_handler(number, handle, number)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
