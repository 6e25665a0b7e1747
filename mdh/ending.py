"""Makes SIGINT and SIGTERM end this process within seconds, even if its main thread is stuck in a system
call.

Python runs signal handlers only in the main thread, between two steps of the interpreter. A main thread that
waits in `open` of a FIFO or for a dead network file system runs none. So a separate thread learns of every
signal by the file that the interpreter writes signal numbers to, and ends the process when the time is up.
"""

import ctypes
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import NoReturn

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit code by signal."""
GRACE = 4.5
"""Seconds from the first signal to the end of the process, whatever it is doing."""
SAME = 0.25
"""Seconds in which signals count as the first one, because `timeout` and other wrappers send theirs to the
process and to its group."""
Told = Callable[[signal.Signals], None]
BACKGROUND = "mdh-aside"
"""The name of the background threads, which are not joined at exit (`mdh.tuner.runtime.background`)."""


class SignalGuard:
    """The thread. told: called from it with the first signal; it must return soon."""

    def __init__(self) -> None:
        """Only for the main thread: Python lets no other one choose where signal numbers are written."""
        self.told: Told | None = None
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._watch, name="mdh-signals", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Gives the signals back to their earlier handlers."""
        signal.set_wakeup_fd(self._before)
        os.close(self._write)
        self._thread.join()
        os.close(self._read)

    def _watch(self) -> None:
        first = None
        while first is None:
            numbers = os.read(self._read, 64)
            if not numbers:
                return
            first = next((n for n in numbers if n in CODES), None)
        number, since = signal.Signals(first), monotonic()
        if self.told is not None:
            self.told(number)
        while (left := since + GRACE - monotonic()) > 0:
            ready, _, _ = select.select([self._read], [], [], min(left, SAME))
            if monotonic() - since >= SAME:
                # the system ends the process then, even if a library never releases the interpreter
                _by_default()
            if not ready:
                continue
            numbers = os.read(self._read, 64)
            if not numbers:
                return
            if monotonic() - since >= SAME and any(n in CODES for n in numbers):
                break
        os._exit(CODES[number])


_GUARDS: list[SignalGuard] = []
"""The guard of this process, if there is one."""


def guard() -> SignalGuard:
    """The guard of this process; starts it if there is none. See `SignalGuard`."""
    if not _GUARDS:
        _GUARDS.append(SignalGuard())
    return _GUARDS[0]


def guarded() -> bool:
    return bool(_GUARDS)


def unguard() -> None:
    """Ends the guard."""
    _GUARDS.pop().stop()


def leave(code: int) -> NoReturn:
    """Ends the process. If a thread is still working on something that nobody waits for, the process ends
    without cleaning up, because the interpreter cannot end a thread inside a library or a system call that
    never returns."""
    if any(thread.name == BACKGROUND for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def once(number: signal.Signals) -> None:
    """Runs Python's handler of the signal once. A second signal ends the process by the system itself, even
    if a driver holds the interpreter and never returns."""
    with suppress(AttributeError, OSError):  # a C library without it: the guard's thread remains
        install = ctypes.CDLL(None).sysv_signal
        install.restype, install.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
        install(number, install(number, None))


def _by_default() -> None:
    """Restores the default action. Python's own function for it works only in the main thread."""
    with suppress(AttributeError, OSError):
        install = ctypes.CDLL(None).signal
        install.restype, install.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
        for number in CODES:
            install(number, None)
