"""What a page draws of one stage: dimensions as sums of digits, arrays with their index functions, regions.

Nothing here is a second model of ownership: the digits are the levels that lowering computes indices from
(`lower.levels`), the index functions are those of the scalar function, the regions those that are allocated.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

from mdh.check.footprint import Footprint, footprints
from mdh.decompose.levels import make_levels
from mdh.hardware import THREADED, Layer
from mdh.ir.affine import Affine
from mdh.ir.layout import Level, Levels
from mdh.ir.plan import Plan, PlanStep, StagePlan
from mdh.ir.program import DimKind, Program
from mdh.lower.fold import folds_of
from mdh.lower.names import names_of
from mdh.lower.stages import Context, kernel_name
from mdh.lower.threads import thread_stride
from mdh.report.accesses import accesses_of
from mdh.report.loops import loop_rows
from mdh.report.traffic import instance_levels

AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Digit:
    """`parts` values, each adding `weight` to the dimension's index; from a split of step `step` (an index
    of the plan's steps). layer: empty for a sequential loop. The unit's coordinate along `axis`, or the
    loop's turn, is the sum of digit * piece over the split's digits; `threads`: what a digit adds to the
    linear thread id, 0 outside a block.
    """

    var: str
    step: int
    parts: int
    weight: int
    piece: int
    layer: str = ""
    axis: str = ""
    threads: int = 0


@dataclass(frozen=True, slots=True)
class DimView:
    """index = sum of weight * digit, digits by weight, the largest first: the digits of an element are found
    by division. In the C the loop variable is start + step * index."""

    name: str
    extent: int
    kind: str
    start: int
    step: int
    digits: tuple[Digit, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """`factor` times dimension `dim`."""

    dim: int
    factor: int


@dataclass(frozen=True, slots=True)
class Index:
    """One subscript: offset + the terms, over the stage's dimensions."""

    offset: int
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """One access; a subscript that depends on data is None. finish: not of the scalar function, but of what
    starts and finishes a result, which one unit does where several hold parts of it."""

    store: bool
    finish: bool
    index: tuple[Index | None, ...]


@dataclass(frozen=True, slots=True)
class ArrayView:
    name: str
    dtype: str
    size: int
    shape: tuple[int, ...]
    role: str
    """`in`, `out`, or `in out` of an array that is updated."""
    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A region of memory that opens at step `step`: of `buffer`, the elements touched while the digits named
    in `free` run and the others stand still. `shape`: its elements; bytes: of all slots."""

    step: int
    buffer: str
    region: str
    output: bool
    free: tuple[str, ...]
    shape: tuple[int, ...]
    bytes: int
    slots: int


@dataclass(frozen=True, slots=True)
class StepView:
    """`number`: 1-based, in text order; `text` empty for the implied last step. facts: what it does, a line a
    fact. layers: core layers that take its parts."""

    number: int
    text: str
    layers: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True)
class StageView:
    """layers: core layers in use, outermost first; warp: lanes that run together, 0 on a CPU. combines: how
    the parts meet that units hold of one result, from inside out."""

    name: str
    dims: tuple[DimView, ...]
    steps: tuple[StepView, ...]
    arrays: tuple[ArrayView, ...]
    held: tuple[Held, ...]
    layers: tuple[str, ...]
    threads: int
    warp: int
    combines: tuple[str, ...]


_ONE = (StepView(1, "", (), ("nothing is split",)),)
"""Of a stage of one element, which no step splits: that it is there can be looked at, too."""


def stage_view(plan: Plan, stage: StagePlan) -> StageView:
    cpu = plan.machine.kind == "cpu"
    levels = make_levels(stage, {d.name for d in stage.stage.dims})
    kept = _held(plan, stage, levels, cpu)
    present = {lv.layer for lv in levels.all if lv.layer}
    order = (Layer.NOD, Layer.DEV, Layer.CLU, Layer.BLK, *THREADED, Layer.VEC)
    threads = 1
    for layer in THREADED:
        threads *= stage.units(layer)
    return StageView(
        stage.stage.name,
        tuple(_dim(stage, levels, d) for d in range(len(stage.stage.dims))),
        tuple(
            _step(stage, s, [h for h in kept if h.step == s], plan.program) for s in range(len(stage.steps))
        )
        or _ONE,
        _arrays(plan.program, stage),
        kept,
        tuple(layer for layer in order if layer in present),
        threads,
        0 if cpu else plan.machine.warp,
        tuple(dict.fromkeys(method for methods in stage.combines for method in methods)),
    )


def _dim(plan: StagePlan, levels: Levels, d: int) -> DimView:
    dim, index = plan.stage.dims[d], levels.index[d]
    ordered = sorted(levels.by_dim[d], key=lambda lv: -index.coefficient(lv.var))
    weights = [index.coefficient(lv.var) for lv in ordered]
    assert all(a > b > 0 for a, b in pairwise(weights)), "digits of one dimension have different weights"
    found = tuple(_digit(plan, lv, w) for lv, w in zip(ordered, weights, strict=True))
    return DimView(dim.name, dim.extent, dim.kind.value, dim.start, dim.step, found)


def _digit(plan: StagePlan, lv: Level, weight: int) -> Digit:
    threads = 0
    if lv.layer in THREADED:
        threads = thread_stride(plan, lv.layer, lv.axis) * lv.piece
    axis = AXES[lv.axis] if lv.layer else ""
    return Digit(lv.var, lv.step, lv.parts, weight, lv.piece, lv.layer or "", axis, threads)


def _arrays(program: Program, plan: StagePlan) -> tuple[ArrayView, ...]:
    stage = plan.stage
    sizes = {s.name: Affine((), s.size) for s in program.scalars if s.size is not None}
    number = {d.name: n for n, d in enumerate(stage.dims)}
    body = accesses_of(
        replace(stage, results=tuple(replace(r, starts=(), outputs=()) for r in stage.results))
    )
    out = []
    for name in program.buffer_order:
        if name not in stage.read | stage.written:
            continue
        buffer = program.buffer_of[name]
        touches = []
        for a in accesses_of(stage):
            if a.buffer == name:
                index = tuple(None if f is None else _index(f.substitute(sizes), number) for f in a.index)
                touches.append(Touch(a.store, a not in body and not stage.scattered, index))
        roles = [word for word, there in (("in", stage.read), ("out", stage.written)) if name in there]
        out.append(
            ArrayView(
                name, buffer.dtype.name, buffer.dtype.bytes, buffer.shape, " ".join(roles),
                tuple(dict.fromkeys(touches)),
            )
        )  # fmt: skip
    return tuple(out)


def _index(f: Affine, number: dict[str, int]) -> Index | None:
    """None also where a local of the loop body is part of it."""
    if not f.names <= number.keys():
        return None
    return Index(f.const, tuple(Term(number[n], c) for n, c in f.terms))


def _held(plan: Plan, stage: StagePlan, levels: Levels, cpu: bool) -> tuple[Held, ...]:
    """In code order: staged inputs, then regions of results."""
    sizes = footprints(plan.program, stage, cpu=cpu)
    out = []
    for position, s in enumerate(stage.code_order):
        for staging in stage.steps[s].stagings:
            free = tuple(lv.var for lv in instance_levels(stage, levels, position, staging.region))
            mine = [f for f in sizes if (f.step, f.buffer, f.region) == (s, staging.buffer, staging.region)]
            out.append(_region(s, staging.buffer, staging.region, False, free, mine))
    if stage.stage.scattered or any(d.kind is DimKind.PS for d in stage.stage.dims):
        return tuple(out)
    context = Context(plan.program, plan.machine, plan.target, names_of(plan.program))
    nest = context.nest(kernel_name(plan.program, stage.stage), stage, folds_of(stage.stage))
    same = dict(zip((lv.var for lv in nest.levels.all), (lv.var for lv in levels.all), strict=True))
    for region in nest.regions:
        at = next((s for s, step in enumerate(stage.steps) if step.number == region.step), None)
        for buf, output in zip(region.bufs, nest.folds[region.fold].outputs, strict=False):
            if at is None or not any(
                h.buffer == output.buffer and h.region for h in stage.steps[at].holdings
            ):
                continue
            free = tuple(same[name] for axis in region.axes for name, _ in axis if name in same)
            mine = [f for f in sizes if f.output and (f.step, f.buffer) == (at, output.buffer)]
            out.append(_region(at, output.buffer, str(buf.space), True, free, mine))
    return tuple(out)


def _region(
    step: int, buffer: str, region: str, output: bool, free: tuple[str, ...], sizes: list[Footprint]
) -> Held:
    """Several accesses of one buffer may be held apart: their bytes are added."""
    shape = sizes[0].shape if sizes else ()
    slots = max((f.slots for f in sizes), default=1)
    return Held(step, buffer, region, output, free, shape, sum(f.bytes for f in sizes), slots)


def _step(plan: StagePlan, s: int, held: list[Held], program: Program) -> StepView:
    step = plan.steps[s]
    layers = dict.fromkeys(x.layer for x in step.splits if x.layer and x.parts > 1)
    return StepView(step.number, step.text, tuple(layers), _facts(plan, step, held, program))


def _facts(plan: StagePlan, step: PlanStep, held: list[Held], program: Program) -> tuple[str, ...]:
    """Loops and units in code order, then what is copied and held."""
    facts = []
    for row in loop_rows(program, plan):
        if row.step != step.number or row.kind not in ("unit", "for"):
            continue
        who = f"one for each {row.name}" if row.kind == "unit" else "in a loop"
        last = f", the last of {row.last}" if row.last else ""
        detail = f", {row.detail}" if row.detail else ""
        facts.append(f"{row.dim}: {row.parts:,} parts of {row.tile:,}{last}, {who}{detail}")
    for h in held:
        shape = "×".join(map(str, h.shape)) or "one element"
        slots = f", {h.slots} slots" if h.slots > 1 else ""
        verb = "partial results in" if h.output else "copied to"
        facts.append(f"{h.buffer}: {verb} {h.region}, {shape}, {h.bytes:,} bytes{slots}")
    return tuple(facts or ("nothing is split",))
