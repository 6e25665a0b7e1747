"""Calls of libraries that make their results themselves."""

from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]


class Kept:
    """Such a call: the last result is kept, and `finish` puts it where it belongs."""

    def __init__(self, make: Callable[[], Any], put: Callable[[Any], Any]) -> None:
        self.make, self.put = make, put
        self.last: Any = None

    def __call__(self) -> None:
        # its memory serves the next one
        self.last = None
        self.last = self.make()

    def finish(self) -> None:
        self.put(self.last)


def finish_of(call: Call) -> Call:
    """What a call has left to do once it is over."""
    found: Call = getattr(call, "finish", lambda: None)
    return found
