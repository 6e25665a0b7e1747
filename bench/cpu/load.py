"""What others take of the CPUs while a pair of turns runs."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


class Meter:
    """Processor time of the whole machine less that of `pids`, asked for each time, and this process."""

    def __init__(self, pids: Callable[[], Sequence[int]]) -> None:
        self._pids = pids
        self._last = self._others()

    def seconds(self) -> float:
        """Of others, since the last call; 0 where the system does not tell."""
        now = self._others()
        spent, self._last = now - self._last, now
        return max(0, spent) / _TICK

    def _others(self) -> int:
        stat = Path("/proc/stat")
        if not stat.exists():
            return 0
        user, nice, system, _, _, irq, soft, steal = map(int, stat.read_text().split(maxsplit=9)[1:9])
        mine = 0
        for pid in (os.getpid(), *self._pids()):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                # it has ended, and what it used is in its parent's account only
                continue
            mine += int(fields[11]) + int(fields[12])
        return user + nice + system + irq + soft + steal - mine
