"""The process that measures one kernel: it builds all contestants, judges them, and lets them take turns.

Contestants share the arrays. What a call writes is put back before the next call, outside of its time.
"""

import ctypes
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import ROOT
from bench.cpu.by_gcc import shared_library
from bench.cpu.load import Meter
from bench.cpu.turns import OTHERS, TICK
from bench.polybench.kernels import Array, Kernel, kernel_of, random_arrays, wrong
from bench.polybench.results import DIRECTIVES, LEAST, OURS, PLAIN, SHIPPED, Round
from mdh.compare.calm import calm
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.pipeline import Pipeline
from mdh.source import Source

Call = Callable[[], Any]
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fopenmp", "-fPIC")
FAST = "-ffast-math"
"""For directives, where sums may have another order, as they may with mdh."""
_WIDE = 64
"""Bytes of the registers for which schedules called `avx512` are."""
_LONG = 0.3
"""Seconds of a call that is a turn by itself."""
_SLOW = 10.0
"""Seconds of a round of which one must do."""


@dataclass(frozen=True, slots=True)
class Order:
    """rounds: that are wanted quiet; seconds: of a turn; budget: of seconds after which no round begins."""

    name: str
    divisor: int
    rounds: int
    seconds: float
    budget: float


def serve(connection: Connection, order: Order, folder: Path) -> None:
    """Measure, and send what is found: `code`, `verdict`, `step` after each call, `round`, `end`."""
    # the device comes first, since it tells OpenMP's library how to wait, which all contestants share
    device = open_device("c")
    kernel = kernel_of(order.name, order.divisor)
    arrays = random_arrays(kernel)
    contest = _Contest(connection, kernel, arrays)
    contest.enter(PLAIN, _by_gcc(kernel, kernel.plain, FLAGS, arrays, folder))
    contest.enter(DIRECTIVES, _by_gcc(kernel, kernel.directives, (*FLAGS, FAST), arrays, folder))
    _enter_ours(device, contest)
    contest.run(order)
    connection.send(("end",))


class _Contest:
    """The contestants whose results are right, with the arrays they share."""

    def __init__(self, connection: Connection, kernel: Kernel, arrays: dict[str, Array]) -> None:
        self.connection, self.kernel, self.arrays = connection, kernel, arrays
        self._calls: dict[str, Call] = {}
        self._before = {name: arrays[name].copy() for name in kernel.written}
        self._right: dict[str, Array] = {}

    def enter(self, name: str, call: Call | None) -> None:
        """Judges a contestant by one call. The first one's results are those that others must have."""
        if call is None:
            self.connection.send(("verdict", name, "did not compile"))
            return
        self._timed(call)
        if not self._right:
            self._right = {n: self.arrays[n].copy() for n in self.kernel.written}
        verdict = wrong(self.kernel, self.arrays, self._right) or "right"
        self.connection.send(("verdict", name, verdict))
        if verdict == "right":
            self._calls[name] = call

    def run(self, order: Order) -> None:
        """Round by round until enough had the machine for themselves, or the budget is spent."""
        meter, spent, rounds, quiet, least = Meter(list), 0.0, 0, 0, LEAST
        while quiet < order.rounds and (rounds < least or spent < order.budget):
            meter.seconds()
            start = time.perf_counter()
            found = {}
            for name, call in self._calls.items():
                found[name] = self._turn(call, order.seconds)
                calm()
                self.connection.send(("step",))
            took = time.perf_counter() - start
            alone = meter.seconds() <= OTHERS * took + TICK
            self.connection.send(("round", Round(found, alone)))
            spent, rounds, quiet = spent + took, rounds + 1, quiet + alone
            least = 1 if took > _SLOW else LEAST

    def _turn(self, call: Call, seconds: float) -> float:
        """The shortest of the calls of a turn. The first one does not count, unless it is long."""
        best = self._timed(call)
        if best > _LONG:
            return best
        best, end, count = float("inf"), time.perf_counter() + seconds, 0
        while time.perf_counter() < end or count < LEAST:
            best, count = min(best, self._timed(call)), count + 1
        return best

    def _timed(self, call: Call) -> float:
        for name, array in self._before.items():
            np.copyto(self.arrays[name], array)
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def _by_gcc(
    kernel: Kernel, source: Path, flags: Sequence[str], arrays: dict[str, Array], folder: Path
) -> Call | None:
    """A call of the C text as gcc compiles it."""
    library = folder / f"{source.parent.name}_{kernel.name}.so"
    defines = [f"-D{name}={value}" for name, value in kernel.sizes.items()]
    if not shared_library(source, (*flags, *defines), library):
        return None
    function = ctypes.CDLL(str(library))[kernel.function]
    function.restype = None
    numbers = {np.float64: ctypes.c_double, np.float32: ctypes.c_float}
    args = [
        ctypes.c_void_p(arrays[p.name].ctypes.data) if p.shape else numbers[p.type](kernel.scalars[p.name])
        for p in kernel.parameters
    ]
    return lambda: function(*args)


def _enter_ours(device: Device, contest: _Contest) -> None:
    """mdh with the schedule that it derives, and with the shipped one. Sends the code of a refusal."""
    arrows, kernel = Pipeline(), contest.kernel
    try:
        program = arrows.read(Source(kernel.plain.name, kernel.text), defines=kernel.sizes)
        contest.enter(OURS, _by_mdh(device, program, None, contest))
    except Failed as failed:
        found = failed.diagnostics[0]
        contest.connection.send(("code", found.code, found.headline))
        if found.code.startswith("C"):
            return
    schedule = shipped(kernel.name, device.machine)
    if schedule is not None:
        try:
            contest.enter(SHIPPED, _by_mdh(device, program, schedule, contest))
        except Failed as failed:
            contest.connection.send(("verdict", SHIPPED, f"refused ({failed.diagnostics[0].code})"))


def _by_mdh(device: Device, program: Program, schedule: Path | None, contest: _Contest) -> Call:
    """The launch with a schedule's file; None: the default one. Raises Failed."""
    arrows, text = Pipeline(), None
    if schedule is not None:
        text = arrows.schedule(Source(schedule.name, schedule.read_text(encoding="utf-8")))
    plan = arrows.check(program, text, device.machine, device.target).plan
    built = arrows.build(device, arrows.emit(arrows.lower(plan), program))
    scalars = {s.name: contest.kernel.scalars[s.name] for s in program.scalars}
    return built.call(contest.arrays, {**program.sizes, **scalars}).launch


def shipped(name: str, machine: Machine) -> Path | None:
    """The shipped schedule for this machine's registers; None if there is none."""
    folder = ROOT / "schedules" / "polybench" / name / "generic-cpu"
    variants = ("avx512", "base") if machine.vector_bytes >= _WIDE else ("base",)
    return next((p for v in variants if (p := folder / f"{v}.mdh").exists()), None)
