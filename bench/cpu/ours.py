"""Each program by mdh on one of our devices: arguments bound once, as a C program would launch it. Einsums
also as Python calls them."""

from pathlib import Path

import mdh
from bench.cases import Contraction
from bench.cpu.data import Arrays
from mdh.compare.calling import Kept
from mdh.device.protocols import BoundCall, Device
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.pipeline import Pipeline
from mdh.source import Source


def prepare(device: Device, program: Program, schedule: Path | None, arrays: Arrays) -> BoundCall | None:
    """The launch of `program` with a schedule's file (None: the default one), None where it is refused."""
    arrows = Pipeline()
    text = None
    if schedule is not None:
        if not schedule.exists():
            return None
        text = arrows.schedule(Source(str(schedule), schedule.read_text(encoding="utf-8")))
    try:
        plan = arrows.check(program, text, device.machine, device.target).plan
    except Failed:
        return None
    built = arrows.build(device, arrows.emit(arrows.lower(plan), program))
    return built.call(arrays, program.sizes)


def einsum(c: Contraction, arrays: Arrays, device: str) -> Kept:
    """A call of `mdh.einsum`, which allocates the result."""
    given, out = [arrays[name] for name in c.factors], arrays[c.result]

    def put(found: object) -> None:
        out[...] = found

    return Kept(lambda: mdh.einsum(c.letters, *given, device=device), put)
