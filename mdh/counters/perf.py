"""Counters of this process while kernels run in it, by `perf stat`.

perf is attached to the process after a first run, when the threads of OpenMP or of an OpenCL driver are
there, and counts only between two messages: neither Python nor the compiler is in the figures. Events of the
kernel of the system are left out, because users may not count them everywhere."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from time import perf_counter

from mdh.counters.counted import Counted, CounterValue, uncounted
from mdh.textfile import reason

EVENTS = (
    "task-clock", "cycles:u", "instructions:u", "branch-misses:u", "L1-dcache-load-misses:u",
    "cache-misses:u", "dTLB-load-misses:u", "page-faults", "context-switches",
)  # fmt: skip
_UNITS = {"task-clock": "ms"}
_HARDWARE = (
    "cycles",
    "instructions",
    "branch-misses",
    "L1-dcache-load-misses",
    "cache-misses",
    "dTLB-load-misses",
)
_SECONDS = 0.5
"""How long kernels run while they are counted."""
_LEAST, _MOST = 3, 10_000
_WAIT = 10.0
"""Seconds in which perf must answer."""
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def counted_by_perf(launch: Callable[[], None], where: str) -> Counted:
    """What runs of kernels count. launch: runs them once, to their end."""
    tool = shutil.which("perf")
    if tool is None:
        return uncounted("perf", where, "perf is not installed (Debian: apt-get install linux-perf)")
    launch()
    try:
        with _attached(tool) as perf:
            runs, seconds = perf.during(launch)
            said = perf.end()
    except (OSError, TimeoutError) as error:
        return uncounted(
            "perf", where, _why(str(error) if isinstance(error, TimeoutError) else reason(error))
        )
    counts = tuple(CounterValue(name, n / runs, _UNITS.get(name, "")) for name, n in read(said))
    if not counts:
        return uncounted(
            "perf", where, _why(said.strip().splitlines()[0] if said.strip() else "it says nothing")
        )
    there = {c.name for c in counts}
    lost = [name for name in _HARDWARE if name not in there]
    missing = ""
    if lost:
        virtual = "the processor's own counters cannot be read here; virtual machines often hide them"
        missing = (
            virtual if len(lost) == len(_HARDWARE) else f"this processor does not count {', '.join(lost)}"
        )
    return Counted("perf", where, runs, seconds / runs, counts, missing)


def read(said: str) -> Iterator[tuple[str, float]]:
    """(event, value) of the lines of `perf stat -x,`; events that are not supported or not counted are left
    out."""
    for row in said.splitlines():
        value, *rest = row.split(",")
        with suppress(ValueError, IndexError):
            yield rest[1].removesuffix(":u"), float(value)


def _why(said: str) -> str:
    """The reason as one sentence. The kernel's setting explains most refusals."""
    level = _PARANOID.read_text().strip() if _PARANOID.exists() else ""
    if level.lstrip("-").isdecimal() and int(level) > 2 and os.geteuid():
        return f"the system forbids counting: {_PARANOID} is {level}, and must be 2 or less"
    return f"perf refuses: {said[:200]}"


@dataclass
class _Perf:
    """A running perf, which counts between `enable` and `disable`. orders, answers: its pipes."""

    process: "subprocess.Popen[str]"
    orders: int
    answers: int

    def during(self, launch: Callable[[], None]) -> tuple[int, float]:
        """(runs, seconds) of the runs that are counted. Raises TimeoutError, OSError."""
        self._tell("enable")
        start, runs = perf_counter(), 0
        while runs < _LEAST or (runs < _MOST and perf_counter() - start < _SECONDS):
            launch()
            runs += 1
        seconds = perf_counter() - start
        self._tell("disable")
        return runs, seconds

    def _tell(self, word: str) -> None:
        with suppress(BrokenPipeError):
            os.write(self.orders, f"{word}\n".encode())
        if not select([self.answers], [], [], _WAIT)[0] or not os.read(self.answers, 64):
            self.process.kill()
            said = self.process.communicate()[1].strip().splitlines()
            raise TimeoutError(said[0] if said else "it does not answer")

    def end(self) -> str:
        """Its figures."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=_WAIT)[1]


@contextmanager
def _attached(tool: str) -> Iterator[_Perf]:
    """A perf that watches this process, and does not count yet. Raises OSError."""
    theirs, orders = os.pipe()
    answers, mine = os.pipe()
    words = [tool, "stat", "-x,", "-D", "-1", "--control", f"fd:{theirs},{mine}", "-p", str(os.getpid())]
    try:
        process = subprocess.Popen(
            [*words, "-e", ",".join(EVENTS)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            pass_fds=(theirs, mine), env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    finally:
        # perf has them; if it ends, reading here ends too
        os.close(theirs)
        os.close(mine)
    try:
        yield _Perf(process, orders, answers)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stderr is not None:
            process.stderr.close()
        os.close(orders)
        os.close(answers)
