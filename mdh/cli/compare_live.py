"""Shows on stderr what a comparison does on a device: one line on a terminal, plain lines elsewhere."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.live import Live
from rich.text import Text

from mdh.cli.console import log, remarks_shown
from mdh.cli.live import fitted, live_console
from mdh.report.text import duration_text

Step = Callable[[str], None]
"""Is told what is done now."""
EVERY = 5.0
"""Seconds between two plain lines, and until the first: what takes less needs none."""


class Doing:
    """What a device does, and how long it has been at work."""

    def __init__(self, name: str) -> None:
        self._name, self._what, self._since = name, "", monotonic()

    def __call__(self, what: str) -> None:
        self._what = what

    def text(self) -> str:
        """`cuda:0: judges the kernels, 12s`; empty where nothing is done."""
        if not self._what:
            return ""
        return f"{self._name}: {self._what}, {duration_text(monotonic() - self._since)}"

    def __rich__(self) -> Text:
        return fitted(self.text())


@contextmanager
def doing(name: str) -> Iterator[Step]:
    """Shows what the device `name` does until the end, as the step that is given says."""
    now = Doing(name)
    if not remarks_shown():
        yield now
        return
    if sys.stderr is not None and sys.stderr.isatty():
        with Live(now, console=live_console(), transient=True, refresh_per_second=4, redirect_stdout=False):
            yield now
        return
    over = threading.Event()
    thread = threading.Thread(target=_lines, args=(now, over), name="mdh-doing", daemon=True)
    thread.start()
    try:
        yield now
    finally:
        over.set()
        thread.join()


def _lines(now: Doing, over: threading.Event) -> None:
    while not over.wait(EVERY):
        if text := now.text():
            log(text)
