"""Which maps default schedules compute where they are read.

A map that is read once at each of its points costs nothing more there, and its results save two ways through
device memory. So does a map of an operation or two that a stencil reads several times. A product of matrices
reads each factor many times, in tiles, and stays a product of what lies in memory.
"""

from collections.abc import Collection

from mdh.ir.expr import Binary, Call, Load, walk
from mdh.ir.inlining import InlineStage, InliningError
from mdh.ir.product_sum import product_sum
from mdh.ir.program import DimKind, Program, Stage
from mdh.poly.inlining import inlined
from mdh.poly.recomputation import computed_twice

FEW = 2
"""Operations that are cheaper than a load."""


def free_maps(program: Program, among: Collection[str]) -> tuple[str, ...]:
    """The stages of `among` that default schedules make inline."""
    temps = {b.name for b in program.buffers if b.temp}
    found = []
    for stage in reversed(program.stages):
        if stage.name not in among or not stage.written <= temps or not _plain(stage):
            continue
        try:
            tried = inlined(program, {stage.name})
        except InliningError:
            continue
        (one,) = tried.stages
        if not one.kept and _gains(program, stage, one):
            program = tried.program
            found.append(stage.name)
    return tuple(reversed(found))


def _plain(stage: Stage) -> bool:
    """Whether the stage is a map. This says so of most others without a proof."""
    return not stage.scattered and all(d.kind is DimKind.CC for d in stage.dims)


def _gains(program: Program, stage: Stage, one: InlineStage) -> bool:
    readers = [s for s in program.stages if s.name in one.readers]
    if any(r.turns > 1 for r in one.reads):
        return False
    if any(product_sum(s) is not None and not _copies(stage) for s in readers):
        return False
    if _cheap(stage):
        reduced = any(d.kind is not DimKind.CC for s in readers for d in s.dims)
        return not reduced or computed_twice(stage, one) is None
    return len(readers) == 1 and computed_twice(stage, one) is None


def _copies(stage: Stage) -> bool:
    return all(isinstance(v, Load) for r in stage.results for v in r.values)


def _cheap(stage: Stage) -> bool:
    """Whether the map is a conversion or an operation of one element."""
    nodes = [n for r in stage.results for e in (*r.values, *(o.value for o in r.outputs)) for n in walk(e)]
    costly = any(isinstance(n, Call) or (isinstance(n, Binary) and n.op in "/%") for n in nodes)
    count = sum(isinstance(n, Binary) for n in nodes)
    return not costly and count <= FEW and sum(isinstance(n, Load) for n in nodes) <= 1
