"""What a stage plan keeps in shared memory and registers: elements and bytes of every staging and region.

Source: language.md section 5. A staged input holds the image of its accesses over the loops inside the copy
point and, in SM, over the threads that share it; a region of partial results holds one element for each
point of the loops inside it that the output's index uses.
"""

import math
from dataclasses import dataclass

from mdh.check.loops import Loop, code_loops
from mdh.hardware import THREADED, Combine, Layer, Space
from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Const, Expr, Var, loads, substitute
from mdh.ir.kernel import SWIZZLE_LINE
from mdh.ir.plan import Holding, StagePlan, Staging
from mdh.ir.program import DimKind, Program, Result, Stage
from mdh.poly.digits import Chain, Cut, digits, index_of, reach

ALIGNMENT = 16
"""Bytes to which each slot of a pipelined SM buffer is rounded up."""
WORD = 4
WARP = 32


@dataclass(frozen=True, slots=True)
class Footprint:
    """One buffer in a region: `elements` of one slot (padding included), `bytes` of all slots.

    step: index of the step whose entry opens it, None for the registers that every reduction has. box: of a
    staged input, the bounding box of what it reads; larger than `shape` where it is packed without its gaps.
    """

    step: int | None
    buffer: str
    region: Space
    shape: tuple[int, ...]
    elements: int
    bytes: int
    slots: int = 1
    output: bool = False
    box: tuple[int, ...] = ()


Item = Loop | int
"""A sequential loop, or the index of a step whose loops' body starts here."""


def footprints(program: Program, plan: StagePlan, *, cpu: bool) -> tuple[Footprint, ...]:
    """Every staging and region of the plan in code order, then the registers of reductions."""
    items = code_items(plan, cpu=cpu)
    shared = () if cpu else tuple(x for x in code_loops(plan) if x.layer in THREADED)
    out: list[Footprint] = []
    for i in plan.code_order:
        step = plan.steps[i]
        if not step.stagings and not step.holdings:
            continue
        inside = _inside(items, items.index(i) + 1, shared)
        for staging in step.stagings:
            # on a CPU nothing copies into SM while the work-item computes
            slots = 1 if cpu and staging.region == Space.SM else step.stages
            out.extend(_staged(program, plan, i, staging, inside[staging.region], slots))
        for holding in step.holdings:
            if holding.region is not None:
                opens = _run_start(plan, items, items.index(i) + 1)
                loops = _inside(items, opens, shared)[holding.region]
                out.extend(_held(program, plan, i, holding, loops))
    out.extend(_accumulators(program, plan, items, out))
    return tuple(out)


def shared_bytes(program: Program, plan: StagePlan, *, cpu: bool) -> int:
    """Bytes of shared memory of a block: staged inputs in all slots, regions, scratch of combines."""
    held = sum(f.bytes for f in footprints(program, plan, cpu=cpu) if f.region == Space.SM)
    return held + (0 if cpu else combine_bytes(plan))


def register_words(program: Program, plan: StagePlan, *, cpu: bool) -> int:
    """32-bit registers that a thread's RM buffers take; addresses and temporaries come on top."""
    return sum(-(-f.bytes // WORD) for f in footprints(program, plan, cpu=cpu) if f.region == Space.RM)


def combine_bytes(plan: StagePlan) -> int:
    """Scratch of combines in shared memory: a partial result of each thread, two rows of them for a scan.

    Shuffles need none, unless the last warp of the block is not full.
    """
    threads = math.prod(plan.units(layer) for layer in THREADED)
    scan = any(d.kind is DimKind.PS for d in plan.stage.dims)
    return sum(
        threads * sum(t.bytes for t in r.types) * (2 if scan else 1)
        for r, methods in zip(plan.stage.results, plan.combines, strict=True)
        if Combine.SHARED in methods or (Combine.SHUFFLE in methods and threads % WARP)
    )


def code_items(plan: StagePlan, *, cpu: bool) -> list[Item]:
    """Loops of one thread in code order with the points of steps between them; vector lanes innermost.

    On a CPU threads are loops of the one work-item, below the last point that they all reach together.
    """
    items: list[Item] = []
    threads: list[Item] = []
    meeting = 0
    loops = code_loops(plan)
    for i in plan.code_order:
        mine = [loop for loop in loops if loop.step == i]
        fresh = [loop for loop in mine if cpu and loop.layer in THREADED]
        threads.extend(fresh)
        if fresh:
            meeting = max(meeting, len(items))
        items.extend(loop for loop in mine if loop.layer is None)
        items.append(i)
        entries: tuple[Staging | Holding, ...] = (*plan.steps[i].stagings, *plan.steps[i].holdings)
        if cpu and any(x.region == Space.SM for x in entries):
            meeting = len(items)
    items[meeting:meeting] = threads
    return [*items, *(loop for loop in loops if loop.layer == Layer.VEC)]


def chain_of(plan: StagePlan, dim: int) -> Chain:
    return tuple(Cut(s.splits[dim].parent, s.splits[dim].tile, s.splits[dim].cyclic) for s in plan.steps)


def first_of_part(plan: StagePlan, loop: Loop, part: int) -> int:
    """The first iteration of the loop's dimension that falls to this part, all other parts first ones.

    Where @cyclic loses it (K120), the start of the part without the dealing.
    """
    chain = chain_of(plan, loop.dim)
    element = index_of(chain, tuple(part if i == loop.step else 0 for i in range(len(chain))))
    return part * loop.tile if element is None else element


def _inside(items: list[Item], start: int, shared: tuple[Loop, ...]) -> dict[str, tuple[Loop, ...]]:
    """The loops over which a buffer opened before item `start` extends, by region. shared: those of the
    threads that share SM."""
    own = tuple(x for x in items[start:] if isinstance(x, Loop))
    return {Space.RM: own, Space.SM: (*shared, *own)}


def _run_start(plan: StagePlan, items: list[Item], end: int) -> int:
    """First item of the maximal run of reduction loops that ends before `end`."""
    start = end
    for p in reversed(range(end)):
        item = items[p]
        if isinstance(item, Loop):
            if plan.stage.dims[item.dim].kind is DimKind.CC:
                break
            start = p
    return start


def _staged(
    program: Program, plan: StagePlan, i: int, staging: Staging, inside: tuple[Loop, ...], slots: int
) -> list[Footprint]:
    """One instance for each group of accesses that differ by constants only."""
    size = program.buffer_of[staging.buffer].dtype.bytes
    out = []
    for linear, shifts in access_groups(program, plan.stage, staging.buffer).items():
        spread = tuple((min(c), max(c)) for c in zip(*shifts, strict=True))
        functions = tuple(zip(linear, spread, strict=True))
        shape = tuple(_extent(plan, function, *ends, inside) for function, ends in functions)
        box = tuple(_box(plan, function, *ends, inside) for function, ends in functions)
        elements = padded(shape, staging.layout, staging.pad)
        aligned = staging.region == Space.SM and slots > 1
        unit = SWIZZLE_LINE if staging.swizzle else ALIGNMENT if aligned else size
        whole = -(-elements * size // unit) * unit // size
        used = whole * size * slots
        out.append(Footprint(i, staging.buffer, staging.region, shape, elements, used, slots, box=box))
    return out


def padded(shape: tuple[int, ...], layout: tuple[int, ...], pad: int) -> int:
    """Elements from the first to the last, with `pad` after each row of the fastest dim."""
    last, step = 0, 1
    for n, k in enumerate(reversed(layout)):
        last += (shape[k] - 1) * step
        step *= shape[k] + (pad if n == 0 else 0)
    return last + 1


def _box(plan: StagePlan, function: Affine, least: int, most: int, inside: tuple[Loop, ...]) -> int:
    """Elements of one buffer dim from the first to the last of the image."""
    out = most - least + 1
    for name, c in function.terms:
        positions = frozenset(x.step for x in inside if str(x.dim) == name)
        out += abs(c) * reach(chain_of(plan, int(name)), positions)
    return out


def _extent(plan: StagePlan, function: Affine, least: int, most: int, inside: tuple[Loop, ...]) -> int:
    """Elements of one buffer dim: the bounding box of the image, or fewer where it has regular holes."""
    box, packed, width = _box(plan, function, least, most, inside), 1, 0
    exact = least == most
    terms: list[tuple[int, int]] = []
    for name, c in function.terms:
        d = int(name)
        positions = frozenset(x.step for x in inside if x.dim == d)
        terms += [(c * g.weight, g.count) for g in digits(chain_of(plan, d)) or () if g.cut in positions]
    for weight, count in sorted(terms, key=lambda t: abs(t[0])):
        exact = exact and weight > width
        packed *= count
        width += abs(weight) * (count - 1)
    return min(box, packed) if exact else box


def access_groups(
    program: Program, stage: Stage, buffer: str
) -> dict[tuple[Affine, ...], list[tuple[int, ...]]]:
    """Affine accesses to a buffer by linear part (over dim positions as names), with their constants."""
    groups: dict[tuple[Affine, ...], list[tuple[int, ...]]] = {}
    for e in stage.expressions():
        for load in loads(e):
            index = affine_index(program, stage, load.index) if load.buffer == buffer else None
            if index is not None:
                linear = tuple(Affine(f.terms) for f in index)
                groups.setdefault(linear, []).append(tuple(f.const for f in index))
    return groups


def affine_index(program: Program, stage: Stage, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
    """Index functions over dim positions; None where one depends on data (a gather)."""
    sizes: dict[str, Expr] = {s.name: Const(s.size, s.dtype) for s in program.scalars if s.size is not None}
    names: dict[str, Expr] = {d.name: Var(str(n)) for n, d in enumerate(stage.dims)}
    out = []
    for e in index:
        function = from_expr(substitute(substitute(e, sizes), names))
        if function is None or any(not name.isdecimal() for name in function.names):
            return None
        out.append(function)
    return tuple(out)


def _results_of(stage: Stage, buffer: str) -> list[Result]:
    return [r for r in stage.results if any(o.buffer == buffer for o in r.outputs)]


def _held(
    program: Program, plan: StagePlan, i: int, holding: Holding, inside: tuple[Loop, ...]
) -> list[Footprint]:
    out = []
    for result in _results_of(plan.stage, holding.buffer):
        if holding.region is not None and result.outputs[0].buffer == holding.buffer:
            out.append(_region(program, plan, i, result, holding.region, inside))
    return out


def _region(
    program: Program, plan: StagePlan, i: int | None, result: Result, region: Space, inside: tuple[Loop, ...]
) -> Footprint:
    """Partial results in accumulator types; a scattered output is held whole."""
    output = result.outputs[0]
    buffer = program.buffer_of[output.buffer]
    shape = tuple(
        extent
        if (index := affine_index(program, plan.stage, (e,))) is None
        else math.prod(x.parts for x in inside if str(x.dim) in index[0].names and _kept(plan, x))
        for e, extent in zip(output.index, buffer.shape, strict=True)
    )
    lanes = math.prod(x.parts for x in inside if x.layer == Layer.VEC and not _kept(plan, x))
    elements = math.prod(shape) * (lanes if region == Space.RM else 1)
    per_element = sum(t.bytes for t in result.types) if result.op is not None else buffer.dtype.bytes
    if result.op is not None and result.op.name.startswith("arg"):
        per_element += WORD
    return Footprint(i, output.buffer, region, shape, elements, elements * per_element, output=True)


def _kept(plan: StagePlan, loop: Loop) -> bool:
    return plan.stage.dims[loop.dim].kind is DimKind.CC


def _accumulators(
    program: Program, plan: StagePlan, items: list[Item], found: list[Footprint]
) -> list[Footprint]:
    """Reductions without a register region of their own accumulate in registers at the innermost place."""
    held = {f.buffer for f in found if f.output and f.region == Space.RM}
    start = _run_start(plan, items, len(items))
    inside = _inside(items, start, ())[Space.RM]
    return [
        _region(program, plan, None, r, Space.RM, inside)
        for r in plan.stage.results
        if r.op is not None and not plan.stage.scattered and r.outputs[0].buffer not in held
    ]
