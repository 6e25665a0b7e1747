"""SIGINT and SIGTERM: an interrupted run cleans up, says so in one line, and exits with 130 or 143."""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from mdh.cli.exit_codes import INTERRUPTED, TERMINATED
from mdh.ending import CODES, guard, once


def end_quietly() -> None:
    """Call it before anything large is imported. The first signal raises an exception in the main thread. If
    that does not end the process within `mdh.ending.GRACE` seconds, the guard does. The second signal ends it
    at once."""
    guard()
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _terminate)
    for number in CODES:
        once(number)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    _leave("interrupted", INTERRUPTED, frame)
    raise KeyboardInterrupt


def _terminate(_number: int, frame: FrameType | None) -> None:
    _leave("terminated", TERMINATED, frame)
    raise SystemExit(TERMINATED)


def _leave(word: str, code: int, frame: FrameType | None) -> None:
    """Ends the process at once while a module is being imported. There is nothing to clean up yet, and an
    exception while a C++ extension starts would abort."""
    with suppress(OSError, AttributeError):  # stderr may be closed, or gone
        sys.stderr.write(f"mdh: {word}\n")
        sys.stderr.flush()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os._exit(code)
        frame = frame.f_back
