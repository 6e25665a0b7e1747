"""Default schedules of wavefronts: bands, units, and the steps of the stages in them.

On a CPU a unit has several turns of the outer loop. If an iteration of the inner loop is a chain of single
points, their chains run side by side and hide one another's latency. A band has what all cores have together.
So the arrays go through the caches once for each band, and not for each turn. On a GPU each thread has one
turn.
"""

from dataclasses import replace
from math import prod

from mdh.cost.work import finished
from mdh.hardware import Layer
from mdh.ir.program import Program
from mdh.ir.wavefronts import Wavefronts
from mdh.machine import Machine
from mdh.schedule.default.grid import ceil_div
from mdh.schedule.model import Arg, Attr, Caret, Core, ForEntry, Section, Step, TileEntry, Unit

CHAINS = 16
"""Turns of a CPU's unit: a chain of ten additions and a division leaves a core idle for as long as about ten
others take."""
WARP = 32
"""Threads of a block: turns are few, and each has a long way to go."""
FEW, MOST = 4, 4096
"""Results of a stage in one turn that are too few for a kernel, and terms that one core sums up itself."""


def front_section(program: Program, w: Wavefronts, machine: Machine) -> Section | None:
    """The section of wavefronts; None where launches of single stages do better. program: with all loops of
    the wavefronts as its own."""
    stages = program.stages[w.first : w.last + 1]
    if any(finished(s) > FEW or prod(d.extent for d in s.dims) > MOST for s in stages):
        return None
    if machine.kind != "cpu":
        threads = min(WARP, w.trips)
        steps = [_step(threads, w, Unit(Layer.BLK, "x"))]
        if threads > 1:
            core = Core(Unit(Layer.THR, "x"))
            steps.append(Step(2, (TileEntry(1), TileEntry(Caret())), (), (), (core, Core(Caret()))))
        return _section(w, *steps)
    part = max(1, min(_chains(program, w, machine), ceil_div(w.trips, machine.units)))
    band = min(w.trips, part * machine.units)
    if band == w.trips:
        return _section(w, _step(part, w, Unit(Layer.BLK, "x")))
    cores = (Core(ForEntry(1)), Core(Caret()))
    outer = Step(1, (TileEntry(band), TileEntry(Caret())), (), (), cores)
    return _section(w, outer, replace(_step(part, w, Unit(Layer.BLK, "x")), label=2))


def _chains(program: Program, w: Wavefronts, machine: Machine) -> int:
    """Turns of a unit whose rows half of its second-level cache holds."""
    arrays = {b for s in program.stages[w.first : w.last + 1] for b in s.read | s.written}
    size = sum(prod(program.buffer_of[b].shape) * program.buffer_of[b].dtype.bytes for b in arrays)
    row = max(1, size // max(r.trips for r in w.rows))
    room = machine.caches[1] // 2 if len(machine.caches) > 1 else machine.shared_per_block
    return min(CHAINS, room // (row * w.factor) - 2)


def _step(tile: int, w: Wavefronts, unit: Unit) -> Step:
    said = [Arg(w.counters[0])] + ([Arg(w.factor)] if w.factor > 1 else [])
    core = Core(ForEntry(1), (Attr("skew", tuple(said)),))
    return Step(1, (TileEntry(tile), TileEntry(1)), (), (), (Core(unit), core))


def _section(w: Wavefronts, *steps: Step) -> Section:
    return Section(w.name, steps, counters=w.counters)


def in_loops(section: Section) -> Section:
    """The section with a loop wherever units had parts, but for the lanes of vectors."""

    def core(c: Core) -> Core:
        unit = isinstance(c.value, Unit) and c.value.layer is not Layer.VEC
        return Core(Caret()) if unit else c

    steps = (replace(s, cores=tuple(map(core, s.cores))) for s in section.steps)
    return replace(section, steps=tuple(steps))
