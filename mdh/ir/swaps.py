"""Arrays that swap roles between the turns of a loop: `for t { B = f(A); A = B; }` without copies.

Where the last stage of each turn copies a box of B into A, the next turn may as well read what it has just
written, and write into the array that is free by then. The proof is for boxes: outside of it both arrays
keep their elements, which differ. So A changes roles with an array W of mdh's own, which begins as a copy
of A and so agrees with it outside of the box. B is written in the last turn alone, whose copy is made.

    W = A;  for each turn but the last { W = f(A) or A = f(W), by turns }  B = f(A or W);  A = B;

It holds for any number of turns, odd or even.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from mdh.hardware import Engine
from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Expr, Load, Var, loads, substitute, walk
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import DimKind, Program, Stage, component
from mdh.ir.turns import Turns

LEAST = 4
"""Turns: with fewer, the copy into W costs about as much as the copies that are left out."""
Side = tuple[int, int]
"""The first and the last subscript along a dimension."""


@dataclass(frozen=True, slots=True)
class Swap:
    """In the loop with variable `loop`, the stage of number `copy` copies array `source` into `target`."""

    loop: str
    copy: int
    target: str
    source: str


def swaps_of(plan: Plan) -> tuple[Swap, ...]:
    """The copies that the launches of a plan can leave out in all turns but the last."""
    program, fixed = plan.computed, frozenset(_fixed(plan))
    out: list[Swap] = []
    for loop in () if program.opens else program.loops:
        inside = range(loop.first, loop.last + 1)
        nested = any(x is not loop and loop.first <= x.first and x.last <= loop.last for x in program.loops)
        counted = any(_names(program.stages[n], loop.var) for n in inside)
        if loop.trips < LEAST or loop.where or nested or counted or not fixed.isdisjoint(inside):
            continue
        mine: list[Swap] = []
        for n in inside:
            found = _swap(program, loop, n)
            arrays = {a for x in mine for a in (x.target, x.source)}
            if found is not None and not {found.target, found.source} & arrays:
                mine.append(found)
        out += mine
    return tuple(out)


def _fixed(plan: Plan) -> Iterator[int]:
    """The stages whose kernels do more than the stage says, or know of arrays by more than an address."""
    yield from (n for x in plan.loops for n in range(x.first, x.last + 1))
    yield from (n for launch in plan.launches if len(launch) > 1 for n in launch)
    apart = (stage.inner or stage.call is not None or _mapped(stage) for stage in plan.stages)
    yield from (n for n, fixed in enumerate(apart) if fixed)


def _mapped(plan: StagePlan) -> bool:
    read = {x.engine for step in plan.steps for x in step.stagings}
    return Engine.TMA in read | {x.engine for step in plan.steps for x in step.holdings}


def _names(stage: Stage, var: str) -> bool:
    return any(isinstance(e, Var) and e.name == var for x in stage.expressions() for e in walk(x))


def _swap(program: Program, loop: Turns, copy: int) -> Swap | None:
    """What stage number `copy` copies, if the turns of the loop can do without."""
    found = _copied(program.stages[copy])
    if found is None:
        return None
    target, source = found
    a, b = program.buffer_of[target], program.buffer_of[source]
    # elements of both have the same places, and all of A can be copied
    same = (a.dtype, len(a.shape), a.shape[1:]) == (b.dtype, len(b.shape), b.shape[1:])
    whole = not a.flat or a.reach == prod(a.shape)
    if not same or not whole or a.values is not None or b.values is not None:
        return None
    inside = range(loop.first, loop.last + 1)
    writers = {x: [n for n in inside if x in program.stages[n].written] for x in (target, source)}
    if writers[target] != [copy] or len(writers[source]) != 1:
        return None
    (made,) = writers[source]
    writer = program.stages[made]
    if made > copy or source in writer.read:
        return None
    if any({target, source} & (s.read | s.written) for s in program.stages[copy + 1 : loop.last + 1]):
        return None
    boxes = [_written(program, s, x) for s, x in ((writer, source), (program.stages[copy], target))]
    if boxes[0] is None or boxes[0] != boxes[1]:
        return None
    if any(source in program.stages[n].read for n in inside if n < made):
        return None
    readers = (program.stages[n] for n in inside if made < n < copy)
    if not all(_reads_inside(program, s, source, boxes[0]) for s in readers):
        return None
    return Swap(loop.var, copy, target, source)


def _copied(stage: Stage) -> tuple[str, str] | None:
    """The arrays of a stage that does nothing but copy elements from one to the same places of the other."""
    if stage.lets or len(stage.results) != 1 or any(d.kind is not DimKind.CC for d in stage.dims):
        return None
    (result,) = stage.results
    if result.op is not None or len(result.outputs) != 1 or len(result.values) != 1:
        return None
    (output,), (value,) = result.outputs, result.values
    if not isinstance(value, Load) or output.value != Var(component(0), value.dtype):
        return None
    if value.index != output.index or value.buffer == output.buffer:
        return None
    return output.buffer, value.buffer


def _written(program: Program, stage: Stage, buffer: str) -> tuple[Side, ...] | None:
    """The box of an array that a stage writes whole; None if it is no box, or may not be written whole."""
    found = [o for r in stage.results for o in r.outputs if o.buffer == buffer]
    if len(found) != 1 or any(d.kind is DimKind.PS for d in stage.dims):
        return None
    extents = {d.name: d.extent for d in stage.dims if d.kind is DimKind.CC}
    left = {name for name, n in extents.items() if n > 1}
    box: list[Side] = []
    for e in found[0].index:
        f = _affine(program, e)
        if f is None or not f.names <= extents.keys() or len(f.names) > 1:
            return None
        if f.names:
            ((name, factor),) = f.terms
            if abs(factor) != 1 or (extents[name] > 1 and name not in left):
                return None
            left -= {name}
        box.append(f.bounds({n: (0, m - 1) for n, m in extents.items()}))
    return None if left else tuple(box)


def _reads_inside(program: Program, stage: Stage, buffer: str, box: tuple[Side, ...]) -> bool:
    """Whether a stage reads nothing of an array outside of a box."""
    ranges = {d.name: (0, d.extent - 1) for d in stage.dims}
    for x in (x for e in stage.expressions() for x in loads(e) if x.buffer == buffer):
        for e, (low, high) in zip(x.index, box, strict=True):
            f = _affine(program, e)
            if f is None or not f.names <= ranges.keys():
                return False
            least, most = f.bounds(ranges)
            if least < low or most > high:
                return False
    return True


def _affine(program: Program, e: Expr) -> Affine | None:
    return from_expr(substitute(e, program.size_constants))
