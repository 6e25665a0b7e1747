"""What a page draws of one stage: dimensions as sums of digits, arrays with their index functions, regions.

Nothing here is a second model of ownership: the digits are the levels that lowering computes indices from
(`decompose.levels`), the index functions are those of the scalar function, the regions those that are
allocated.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import prod

from mdh.decompose.accesses import accesses_of
from mdh.hardware import THREADED, UNIT_AXES, Combine, Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.layout import Level, Levels
from mdh.ir.plan import Plan, PlanStep, StagePlan
from mdh.ir.program import DimKind, Program
from mdh.ir.tile import Hold, Tile, Tiles
from mdh.lower.threads import thread_stride
from mdh.report.loops import loop_rows
from mdh.wording import plural


@dataclass(frozen=True, slots=True)
class DigitView:
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
    digits: tuple[DigitView, ...]


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
class HeldView:
    """A region of memory that opens at step `step`: of `buffer`, the elements touched while the digits named
    in `free` run and the others stand still. `shape`: its elements; bytes: of all slots. `boxed`: the copy
    engine fills it, and no thread copies."""

    step: int
    buffer: str
    region: str
    output: bool
    free: tuple[str, ...]
    shape: tuple[int, ...]
    bytes: int
    slots: int
    boxed: bool = False


@dataclass(frozen=True, slots=True)
class StepView:
    """`number`: 1-based, in text order; `text` empty for the implied last step. facts: what it does, a line a
    fact. layers: core layers that take its parts. bad: the checker refused it, so that it splits nothing."""

    number: int
    text: str
    layers: tuple[str, ...]
    facts: tuple[str, ...]
    bad: bool = False


@dataclass(frozen=True)
class StageView:
    """layers: core layers in use, outermost first; warp: lanes that run together, 0 on a CPU. combines: how
    the parts meet that units hold of one result, from inside out."""

    name: str
    dims: tuple[DimView, ...]
    steps: tuple[StepView, ...]
    arrays: tuple[ArrayView, ...]
    held: tuple[HeldView, ...]
    layers: tuple[str, ...]
    threads: int
    warp: int
    combines: tuple[str, ...]


_ONE = (StepView(1, "", (), ("nothing is split",)),)
"""Of a stage of one element, which no step splits: that it is there can be looked at, too."""


def stage_view(plan: Plan, stage: StagePlan) -> StageView:
    cpu = plan.machine.kind == "cpu"
    levels, kept = stage.tiles.levels, _held(plan, stage, stage.tiles)
    present = {lv.layer for lv in levels.all if lv.layer}
    order = (Layer.NOD, Layer.DEV, Layer.CLU, Layer.BLK, *THREADED, Layer.VEC)
    streamed = (Combine.STREAM,) if stage.streamed else ()
    return StageView(
        stage.stage.name,
        tuple(_dim(stage, levels, d) for d in range(len(stage.stage.dims))),
        tuple(_step(stage, s, [h for h in kept if h.step == s]) for s in range(len(stage.steps))) or _ONE,
        _arrays(stage.program, stage),
        kept,
        tuple(layer for layer in order if layer in present),
        prod(lv.parts for lv in levels.all if lv.layer in THREADED),
        0 if cpu else plan.machine.warp,
        tuple(dict.fromkeys((*(m for methods in stage.combines for m in methods), *streamed))),
    )


def _dim(plan: StagePlan, levels: Levels, d: int) -> DimView:
    dim, index = plan.stage.dims[d], levels.index[d]
    ordered = sorted(levels.by_dim[d], key=lambda lv: -index.coefficient(lv.var))
    weights = [index.coefficient(lv.var) for lv in ordered]
    assert all(a > b > 0 for a, b in pairwise(weights)), "digits of one dimension have different weights"
    found = tuple(_digit(plan, lv, w) for lv, w in zip(ordered, weights, strict=True))
    return DimView(dim.name, dim.extent, dim.kind.value, dim.start, dim.step, found)


def _digit(plan: StagePlan, lv: Level, weight: int) -> DigitView:
    threads = 0
    if lv.layer in THREADED:
        threads = thread_stride(plan, lv.layer, lv.axis) * lv.piece
    axis = UNIT_AXES[lv.axis] if lv.layer else ""
    return DigitView(lv.var, lv.step, lv.parts, weight, lv.piece, lv.layer or "", axis, threads)


def _arrays(program: Program, plan: StagePlan) -> tuple[ArrayView, ...]:
    stage = plan.stage
    accesses = accesses_of(program, stage)
    out = []
    for name in program.buffer_order:
        if name not in stage.read | stage.written:
            continue
        buffer = program.buffer_of[name]
        touches = []
        for a in accesses:
            if a.buffer == name:
                index = tuple(None if f is None else _index(f) for f in a.index)
                touches.append(Touch(a.store, a.finish, index))
        roles = [word for word, there in (("in", stage.read), ("out", stage.written)) if name in there]
        out.append(
            ArrayView(
                name, buffer.dtype.name, buffer.dtype.bytes, buffer.shape, " ".join(roles),
                tuple(dict.fromkeys(touches)),
            )
        )  # fmt: skip
    return tuple(out)


def _index(f: Affine) -> Index:
    """Where loops are around the stage, as of their first turn."""
    return Index(f.const, tuple(Term(int(name), c) for name, c in f.terms if name.isdecimal()))


def _held(plan: Plan, stage: StagePlan, tiles: Tiles) -> tuple[HeldView, ...]:
    """In code order: staged inputs, then regions of results. Several accesses of one buffer may be held
    apart: their bytes are added."""
    found: dict[tuple[int, str, Space, bool], list[Tile]] = {}
    for node in tiles.kept:
        if node.step is not None:
            key = (node.step, node.tile.buffer, node.tile.space, isinstance(node, Hold))
            found.setdefault(key, []).append(node.tile)
    boxed = {(node.step, node.tile.buffer) for node in tiles.copies if node.engine is Engine.TMA}
    return tuple(
        HeldView(
            step, buffer, space, output, tuple(dict.fromkeys(v for tile in mine for v in tile.variables)),
            mine[0].shape, sum(tile.bytes for tile in mine), max(tile.slots for tile in mine),
            not output and (step, buffer) in boxed,
        )
        for (step, buffer, space, output), mine in found.items()
        if not output or _whole(stage)
    )  # fmt: skip


def _whole(stage: StagePlan) -> bool:
    """Results are computed in one pass."""
    return not stage.stage.scattered and not any(d.kind is DimKind.PS for d in stage.stage.dims)


def _step(plan: StagePlan, s: int, held: list[HeldView]) -> StepView:
    step = plan.steps[s]
    layers = dict.fromkeys(lv.layer for lv in plan.tiles.levels.all if lv.step == s and lv.layer)
    return StepView(step.number, step.text, tuple(layers), _facts(plan, step, held))


def _facts(plan: StagePlan, step: PlanStep, held: list[HeldView]) -> tuple[str, ...]:
    """Loops and units in code order, then what is copied and held."""
    facts = []
    for row in loop_rows(plan):
        if row.step != step.number or row.kind not in ("unit", "for"):
            continue
        who = f"one for each {row.name}" if row.kind == "unit" else "in a loop"
        last = f", the last of {row.last}" if row.last else ""
        detail = f", {row.detail}" if row.detail else ""
        facts.append(f"{row.dim}: {row.parts:,} parts of {row.tile:,}{last}, {who}{detail}")
    if plan.roles is not None and any(x.layer is Layer.BLK for x in step.splits):
        how = "compute tiles by turns" if plan.teams > 1 else "compute"
        facts.append(f"{plural(plan.roles.math, 'warp group')} of a block {how}, one more copies")
    for h in held:
        shape = "×".join(map(str, h.shape)) or "one element"
        slots = f", {h.slots} slots" if h.slots > 1 else ""
        copied = "copied by the copy engine to" if h.boxed else "copied to"
        verb = "partial results in" if h.output else copied
        facts.append(f"{h.buffer}: {verb} {h.region}, {shape}, {h.bytes:,} bytes{slots}")
    return tuple(facts or ("nothing is split",))
