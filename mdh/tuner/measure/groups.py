"""The state of the processes of a group, as the system reports it."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICK = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """stopped: a signal has stopped one of them. seconds: processor time, including that of ended
    children."""

    stopped: bool
    seconds: float


def group_of(number: int) -> ProcessGroup:
    stopped, ticks = False, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            words = _words(path)
            if int(words[2]) == number:
                stopped |= words[0] in "Tt"
                ticks += sum(int(w) for w in words[11:15])
    return ProcessGroup(stopped, ticks * _TICK)


def _words(path: Path) -> list[str]:
    """The fields after the name, which may hold anything: the state first, the group third."""
    return path.read_text(encoding="latin-1").rpartition(")")[2].split()
