"""A contestant's process: it holds its own arrays and takes its turns when it is told to."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import program_of, written
from bench.cpu import by_gcc, by_mkl, by_numpy, ours
from bench.cpu.cases import Case
from bench.cpu.data import Arrays, random_arrays
from bench.cpu.roof import Rates, Roof
from mdh.compare import by_mkl as mkl
from mdh.compare.by_numpy import version as numpy_version
from mdh.compare.calling import Call, finish_of
from mdh.compare.calm import calm
from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.ir.program import Program

Runner = Callable[[], tuple[float, float]]
"""One call: its seconds as the caller sees them, and those of the kernels alone."""
_CLOCKED, _SHORT = 4, 1e-3
"""Of calls that take fewer seconds than _SHORT one in so many has its kernels timed."""
CALL = "call"
"""The contestant that calls `mdh.einsum` for each result."""
EXTRAS = ("torch", "halide", "tvm")
"""Peers that are Python packages and may be missing."""
_LONG = 0.3
"""Seconds of a call that is a turn by itself: what the caches held before it hardly matters."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The shortest call of a turn, in seconds, and the shortest time of the kernels alone: of calls close to
    one another the shortest is the one that other processes disturbed least."""

    whole: float
    kernel: float


def timed(call: Callable[[], Any], clock: Callable[[], float]) -> Runner:
    def run() -> tuple[float, float]:
        start = clock()
        call()
        seconds = clock() - start
        return seconds, seconds

    return run


class Contestant:
    """`name`: ours, default, CALL or one of table.PEERS. `device`: of the first three, as `opencl:0`."""

    def __init__(self, name: str, device: str, folder: Path, threads: int, alone: bool) -> None:
        self.name, self.spec, self.folder, self.threads = name, device, folder, threads
        self.clock = time.process_time if alone else time.perf_counter
        self.runner: Runner | None = None
        self.arrays: Arrays = {}
        self.finish: Callable[[], Any] = lambda: None
        self.ballast = np.zeros(1 << 24)
        self.device: Any = None
        self.library: Any = None
        if name in ("ours", "default"):
            self.device = open_device(device)
            self.version = ", ".join(f"{name} {version}" for name, version in self.device.versions)
        elif name == CALL:
            self.version = device
        elif name in EXTRAS:
            # which its own process alone imports
            self.library = import_module(f"bench.cpu.by_{name}")
            self.version = self.library.version()
        elif name == "mkl":
            self.library = mkl.load()
            self.version = mkl.version()
        elif name == "gcc":
            if by_gcc.compiler() is None:
                raise ImportError("there is no C compiler")
            self.version = by_gcc.version()
        else:
            self.version = numpy_version()

    def prepare(self, case: Case, expected: Path) -> str:
        """Bind the case and judge one call; what is wrong, `right`, or `absent`."""
        program = program_of(case)
        # calls of C functions hold addresses only
        self.arrays = arrays = random_arrays(case, program)
        call = self._call(case, program, arrays)
        if call is None:
            return "absent"
        self.runner = call
        call()
        self.finish()
        return judged(case, program, arrays, expected)

    def _call(self, case: Case, program: Program, arrays: Arrays) -> Runner | None:
        if self.device is not None:
            schedule = case.schedule_on(self.device.machine)
            if self.name == "ours" and schedule is None:
                return None
            bound = ours.prepare(self.device, program, schedule if self.name == "ours" else None, arrays)
            if bound is None:
                return None

            calls = count()

            def run() -> tuple[float, float]:
                start = self.clock()
                bound.launch()
                seconds = self.clock() - start
                # the device's clock makes a launch dearer, so it runs beside some calls only; and never
                # beside the first, whose results are judged, for some programs add to what is there
                number = next(calls)
                clocked = number and (seconds > _SHORT or number % _CLOCKED == 0)
                device = bound.sample().device if clocked else None
                return seconds, min(device or seconds, seconds)

            return run
        made: Call | None
        if self.name == CALL:
            contraction = case.contraction if case.language == "einsum" else None
            made = ours.einsum(contraction, arrays, self.spec) if contraction is not None else None
        elif self.name in EXTRAS:
            made = self.library.prepare(case.program, arrays, self.threads)
        elif self.name == "mkl":
            made = by_mkl.prepare(self.library, case.program, arrays, self.threads)
        elif self.name == "gcc":
            made = by_gcc.prepare(case, arrays, self.folder)
        else:
            made = by_numpy.prepare(case.program, arrays)
        if made is None:
            return None
        self.finish = finish_of(made)
        return timed(made, self.clock)

    def turn(self, seconds: float, cold: bool) -> Turn:
        """Calls for so long (at least three) after one that does not count, or one call on evicted caches."""
        assert self.runner is not None
        if cold:
            self.ballast += 1.0
            return Turn(*self.runner())
        first = self.runner()
        if first[0] > _LONG:
            return Turn(*first)
        samples = list[tuple[float, float]]()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end or len(samples) < 3:
            samples.append(self.runner())
        return Turn(min(s[0] for s in samples), min(s[1] for s in samples))


def judged(case: Case, program: Program, arrays: Arrays, expected: Path) -> str:
    """Results against numpy's on doubles: sums of n terms may be off by (4 sqrt n + 16) roundings."""
    terms = max(2.0, case.flops or float(max(case.sizes.values())))
    for name in sorted(written(program)):
        found, right = arrays[name], np.load(expected / f"{name}.npy", mmap_mode="r")
        if found.dtype.kind == "i":
            wrong = not np.array_equal(found, right)
        else:
            unit = float(np.finfo(found.dtype).eps)
            count = min(terms, max(case.sizes.values()) * 64.0)
            limit = unit * (4 * count**0.5 + 16) * float(np.abs(right).max())
            wrong = not float(np.abs(found - right).max()) <= limit
        if wrong:
            return f"wrong {name}"
    return "right"


def serve(connection: Connection, name: str, device: str, folder: Path, threads: int, alone: bool) -> None:
    """Answer the table's orders until it sends None. alone: time is that of the process on its processor."""
    try:
        contestant = Contestant(name, device, folder, threads, alone)
    except ImportError as error:
        connection.send(("absent", str(error)))
        return
    except Failed as failed:
        why = failed.diagnostics[0]
        connection.send(("absent", f"{why.code}: {why.headline}"))
        return
    connection.send(("ready", contestant.version))
    while (order := connection.recv()) is not None:
        what, *given = order
        match what:
            case "prepare":
                verdict = contestant.prepare(*given)
                calm()
                connection.send(verdict)
            case "turn":
                connection.send(contestant.turn(*given))
            case _:
                # to rest
                calm()
                connection.send(None)


def serve_roof(connection: Connection, folder: Path, threads: int) -> None:
    roof = Roof(folder, threads)
    connection.send(("ready", ""))
    while connection.recv() is not None:
        rates: Rates = roof.rates()
        connection.send(rates)
