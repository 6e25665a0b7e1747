"""Which maps default schedules compute where they are read.

A map of which each point is read once costs nothing more there, and its results save two ways through device
memory. So does a map of a few operations that other maps read several times: what neighbours read again comes
from a cache. A reduction that reads a point many times keeps it in memory.
"""

from collections.abc import Collection

from mdh.ir.dtype import NARROW
from mdh.ir.expr import Binary, Call, Cast, Load, Unary, walk
from mdh.ir.inlining import InlineStage, InliningError
from mdh.ir.program import DimKind, Program, Stage
from mdh.poly.inlining import inlined
from mdh.poly.recomputation import computed_twice

FEW = 24
"""Operations and loads at a point of a reader that are cheaper than a way through memory. On one core, a mean
of three rows of means of three elements (18) takes 0.3 of the time of two kernels, and the same of crosses
of five elements (50) 0.7."""
LARGE = 300
"""Parts of an expression that compilers still look through."""


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
        if one.kept or _grown(tried.program, one):
            continue
        if _cheap(program, stage, one) or _once(stage, one):
            program = tried.program
            found.append(stage.name)
    return tuple(reversed(found))


def _plain(stage: Stage) -> bool:
    """Whether the stage is a map. This says so of most others without a proof."""
    return not stage.scattered and all(d.kind is DimKind.CC for d in stage.dims)


def _grown(program: Program, one: InlineStage) -> bool:
    """Whether an expression of a reader becomes large. Values that are written twice double with each stage
    of a chain."""
    readers = [s for s in program.stages if s.name in one.readers]
    return any(sum(1 for _ in walk(e)) > LARGE for s in readers for e in s.expressions())


def _once(stage: Stage, one: InlineStage) -> bool:
    return len(one.readers) == 1 and computed_twice(stage, one) is None


def _cheap(program: Program, stage: Stage, one: InlineStage) -> bool:
    """Whether all readers are maps, and compute little more. Functions, divisions and conversions to types
    that processors do not compute in are not cheap."""
    readers = [s for s in program.stages if s.name in one.readers]
    if any(d.kind is not DimKind.CC for s in readers for d in s.dims) or any(r.turns > 1 for r in one.reads):
        return False
    values = [e for r in stage.results for e in (*r.values, *(o.value for o in r.outputs))]
    nodes = [n for e in values for n in walk(e)]
    types = {program.buffer_of[name].dtype for name in stage.written}
    types |= {n.dtype for n in nodes if isinstance(n, Cast | Load)}
    narrow = any(t in NARROW for t in types)
    costly = any(isinstance(n, Call) or (isinstance(n, Binary) and n.op in "/%") for n in nodes)
    count = sum(isinstance(n, Binary | Unary | Load | Cast) for n in nodes)
    return not narrow and not costly and count * len(one.reads) <= FEW
