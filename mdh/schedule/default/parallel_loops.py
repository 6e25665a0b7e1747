"""Default schedules of loops whose iterations units share: who gets which iterations, and when it pays.

Each unit runs all turns by itself, and needs no others for that. So a launch, or a loop that wakes the
threads of a CPU, is made once and not for each turn, and what a unit has just written is still in its cache.
But the other dimensions of the stages are then loops of one unit.
"""

from dataclasses import replace
from math import prod

from mdh.hardware import Layer
from mdh.ir.parallel_loop import ParallelLoop
from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine
from mdh.schedule.default.contraction import find_contraction
from mdh.schedule.default.grid import ceil_div
from mdh.schedule.default.shape import Shape
from mdh.schedule.model import Core, Section, Step, TileEntry, Unit

FEW = 16
"""Points of a stage in one iteration and turn that one thread of a GPU computes by itself."""
THREADS, MANY = 32, 128
"""Threads of a block, where the iterations are few, and where they are many."""
ROWS, COLUMNS = 8, 128
"""Iterations that a unit of a CPU computes: if each iteration reads its own rows, and if the iterations lie
side by side in a row."""
GROUPS = 3
"""Units for each core of a CPU, at least, if there are so many iterations."""


def loop_section(program: Program, loop: ParallelLoop, machine: Machine) -> Section | None:
    """The section of a loop. None if it is better to launch a kernel for each stage in each turn."""
    stages = [s for s in program.stages if s.name in loop.dim_of]
    shapes = [Shape(program, s) for s in stages]
    gpu = machine.kind != "cpu"
    if any(s.scattered or find_contraction(x, gpu=gpu) for s, x in zip(stages, shapes, strict=True)):
        return None
    if any(_reused(loop, x) for x in shapes):
        return None
    if gpu:
        inside = max(prod(d.extent for d in s.dims) // loop.extent for s in stages)
        threads = MANY if loop.extent >= MANY * 4 * machine.units else THREADS
        return _section(loop, (threads, Layer.BLK), (1, Layer.THR)) if inside <= FEW else None
    if loop.extent < 2 * machine.units:
        return None
    along = sum(_along(loop, x) for x in shapes)
    most = COLUMNS if 2 * along > len(shapes) else ROWS
    tile = min(most, ceil_div(loop.extent, GROUPS * machine.units))
    return _section(loop, (tile, Layer.BLK))


def _reused(loop: ParallelLoop, shape: Shape) -> bool:
    """Whether a sum reads the same elements in all iterations, as a layer reads its weights for each row of
    its inputs. Each unit would read them by itself, and each of its iterations anew."""
    at = [d.name for d in shape.stage.dims].index(loop.dim_of[shape.stage.name])
    summed = shape.of_kind(DimKind.PW)
    return any(shape.uses(a, d) and not shape.uses(a, at) for a in shape.reads for d in summed)


def _along(loop: ParallelLoop, shape: Shape) -> bool:
    """Whether neighbouring iterations write neighbouring elements."""
    at = [d.name for d in shape.stage.dims].index(loop.dim_of[shape.stage.name])
    return all(abs(shape.stride(w, at)) == 1 for w in shape.writes)


def _section(loop: ParallelLoop, *levels: tuple[int, Layer]) -> Section:
    """levels: tiles, and the layers that get their parts."""
    steps: list[Step] = []
    size = loop.extent
    for tile, layer in levels:
        if tile < size:
            core = Core(Unit(layer, "x"))
            steps.append(Step(len(steps) + 1, (TileEntry(tile),), (), (), (core,)))
            size = tile
    return Section(loop.name, tuple(steps), counters=(loop.counter,))


def part_of(loop: ParallelLoop, section: Section, stage: Stage) -> Stage:
    """The stage for the iterations of one unit."""
    tiles = [t.value for s in section.steps for t in s.tiles if isinstance(t.value, int)]
    size = min([loop.extent, *tiles])
    name = loop.dim_of[stage.name]
    dims = tuple(replace(d, extent=size) if d.name == name else d for d in stage.dims)
    return replace(stage, dims=dims)


def runs_alone(section: Section) -> bool:
    """Whether a stage's steps have no units besides the lanes of vectors."""
    units = (c.value for step in section.steps for c in step.cores)
    return all(not isinstance(u, Unit) or u.layer is Layer.VEC for u in units)
