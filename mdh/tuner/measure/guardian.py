"""Ends the compilers, assemblers and linkers that the workers of a killed tuner have started.

A worker ends with the tuner by itself, but the processes that it started do not. They are all in the worker's
process group. The guardian is a separate process that knows the groups. It holds one end of a pipe, and
signals to the tuner's group do not reach it. When the tuner is gone, it kills the groups that are left. This
file is run by itself, so it imports nothing of mdh.
"""

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress

_LOOK = 1.0
"""Seconds between two checks whether the tuner lives. A fork of the tuner may hold the pipe open."""


class Guardian:
    """The tuner's side. Raises OSError if the process cannot be started; the bench works without it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(os.getpid())],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, cwd="/",
        )  # fmt: skip

    def watch(self, group: int) -> None:
        self._say(f"+{group}\n")

    def leave(self, group: int) -> None:
        """Forgets a group whose processes have all been killed, because its number may be reused."""
        self._say(f"-{group}\n")

    def close(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(OSError):
            stdin.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _say(self, words: str) -> None:
        # if the guardian itself was killed, the bench goes on without one
        with suppress(OSError, ValueError):
            os.write(self._process.stdin.fileno(), words.encode())  # type: ignore[union-attr]


def main(tuner: int) -> None:
    groups: set[int] = set()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    said = b""
    while True:
        lives = os.getppid() == tuner
        if not select.select([0], [], [], _LOOK if lives else 0.0)[0]:
            if lives:
                continue
            break
        part = os.read(0, 1 << 16)
        if not part:
            break
        *lines, said = (said + part).split(b"\n")
        for line in lines:
            (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
