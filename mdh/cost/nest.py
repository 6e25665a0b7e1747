"""The tile tree of a stage as the cost model reads it: one list of levels, and what each access moves by."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import inf, prod
from operator import mul

from mdh.cost.work import StageWork, stage_work
from mdh.decompose.accesses import AccessGroup
from mdh.decompose.regions import run_start
from mdh.hardware import BLOCKED, THREADED, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.layout import MOST_PEELS, Level, Levels
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Copy, Hold, Loop, Tile, Units, nested
from mdh.machine import Machine

GRID, THREAD, LOOP, LANE = "grid", "thread", "loop", "lane"


@dataclass(frozen=True, slots=True)
class NestLevel:
    """One loop or unit: `var` takes `parts` values, and moves dimension `dim`. unrolled: it leaves no branch.
    tail: share of the points that lie in a last part that is smaller than the others, and are guarded."""

    var: str
    dim: int
    parts: int
    role: str
    unrolled: bool
    tail: float


@dataclass(frozen=True, slots=True)
class AccessView:
    """An access as the code makes it: of the buffer itself, or of its innermost copy.

    outer: number of leading levels outside of the copy (0 for DM). bytes: of the whole copy. strides: bytes
    between neighbouring parts of a level, by its variable; levels that do not move it are missing.
    """

    access: AccessGroup
    region: Space
    outer: int
    bytes: int
    strides: Mapping[str, int]

    def stride(self, level: NestLevel) -> int | None:
        """0: the level does not move it; None: data decides where it goes."""
        return self.strides.get(level.var, None if self.access.gather else 0)


@dataclass(frozen=True, slots=True)
class StagedFill:
    """A staged input: it is filled each time that the levels before `position` go on. source: what is copied.
    vec: elements of an access, None: as many as go. straight: the fastest dimension is the same on both
    sides."""

    node: Copy
    source: AccessView
    position: int
    vec: int | None
    straight: bool

    @property
    def access(self) -> AccessGroup:
        return self.source.access

    @property
    def elements(self) -> int:
        return prod(self.node.tile.shape)


@dataclass(frozen=True, slots=True)
class Accumulators:
    """Where partial results live, innermost: from before level `opens` on, `elements` of them in a thread.
    merges: how often it opens for one result, that is how often results are merged outward."""

    opens: int
    elements: int
    merges: int


@dataclass(frozen=True)
class CostNest:
    """levels: the grid, then loops in code order, lanes last. threads: units of a block, x fastest; none on a
    CPU, where they are loops."""

    work: StageWork
    plan: StagePlan
    machine: Machine
    levels: tuple[NestLevel, ...]
    threads: tuple[NestLevel, ...]
    views: tuple[AccessView, ...]
    copies: tuple[StagedFill, ...]
    region: Accumulators

    @cached_property
    def grid(self) -> tuple[NestLevel, ...]:
        return tuple(v for v in self.levels if v.role == GRID)

    @cached_property
    def blocks(self) -> int:
        return prod(v.parts for v in self.grid)

    @cached_property
    def trips(self) -> tuple[float, ...]:
        """How often the kernel comes to each level, and behind all of them."""
        return tuple(accumulate((v.parts for v in self.levels), mul, initial=1.0))

    def runs(self, position: int) -> float:
        """How often a block, or a thread of it, comes to this level."""
        return float(prod(v.parts for v in self.levels[:position] if v.role != GRID))


def nest_of(
    work: StageWork, plan: StagePlan, machine: Machine, around: tuple[NestLevel, ...] = ()
) -> CostNest:
    """around: the levels around a stage that the kernel of another one computes."""
    tiles = plan.tiles
    units = [n.level for n in tiles.around if isinstance(n, Units)]
    grid = [*around, *(_level(x, GRID, False) for x in units if x.layer in BLOCKED)]
    threads = tuple(_level(x, THREAD, False) for x in units if x.layer in THREADED)
    loops = [n.level for n in tiles.around if isinstance(n, Loop)]
    hold, opens = _results(plan, len(grid))
    levels = list(grid)
    for x in loops:
        held = len(levels) >= opens and work.reduces and work.kinds[x.dim] is DimKind.CC
        unrolled = x.layer is Layer.VEC or plan.steps[x.step].unroll == 0 or held
        levels.append(_level(x, LANE if x.layer is Layer.VEC else LOOP, unrolled))
    merged = [v for v in levels[:opens] if v.role == LOOP and work.kinds[v.dim] is DimKind.PW]
    elements = 1 if hold is None else prod(hold.tile.shape)
    region = Accumulators(opens, elements, prod(v.parts for v in merged))
    near = _in_tiles(plan)
    accesses = (a for a in work.accesses if not (around and a.store))
    views = [_in_memory(tiles.levels, a, near.get(a.buffer, Space.DM)) for a in accesses]
    copies = tuple(c for c in _copies(plan, len(grid), views) if c.access.buffer not in near)
    return CostNest(work, plan, machine, tuple(levels), threads, tuple(views), copies, region)


def _level(x: Level, role: str, unrolled: bool) -> NestLevel:
    return NestLevel(x.var, x.dim, x.parts, role, unrolled, x.parent % x.tile / x.parent)


def _results(plan: StagePlan, grid: int) -> tuple[Hold | None, int]:
    """The outermost region of registers of the first result, and the level before which it opens; behind all
    of them where there is none. A scattered result has none, and counts as if the innermost run of reduction
    loops had one."""
    for node, around in nested(plan.tiles.body):
        if isinstance(node, Hold) and node.result == 0 and node.tile.space is Space.RM:
            return node, grid + sum(isinstance(n, Loop) for n in around)
    order = plan.tiles.order
    start = run_start(order, plan.stage, len(order)) if plan.stage.scattered else len(order)
    return None, grid + sum(isinstance(item, Level) for item in order[:start])


def _copies(plan: StagePlan, grid: int, views: list[AccessView]) -> tuple[StagedFill, ...]:
    """In code order. views: of all accesses; each copy replaces that of its access."""
    out = []
    for node, around in nested(plan.tiles.body):
        if not isinstance(node, Copy):
            continue
        held, position = node.tile, grid + sum(isinstance(n, Loop) for n in around)
        stagings = plan.steps[node.step].stagings
        vec = next(s.vec for s in stagings if (s.buffer, s.region) == (held.buffer, held.space))
        last = len(held.shape) - 1
        straight = not held.layout or held.layout[-1] == last or held.shape[last] == 1
        for k, source in enumerate(views):
            access = source.access
            if not access.store and node.serves(access.buffer, access.linear):
                out.append(StagedFill(node, source, position, vec, straight))
                strides = {**source.strides, **_in_tile(held)}
                views[k] = AccessView(access, held.space, position, prod(held.shape) * access.size, strides)
    return tuple(out)


def inner_nests(nest: CostNest) -> tuple[CostNest, ...]:
    """The nests of the stages that the kernel computes for itself, and of those inside of them. A stage's
    levels are those around its step, then its own."""
    out: list[CostNest] = []
    for x in nest.plan.inner:
        work = stage_work(x.plan.program, x.plan.stage)
        kept = next((d for d, kind in enumerate(work.kinds) if kind is DimKind.CC), 0)
        at = next(c for c in nest.plan.tiles.copies if c.step == x.step and c.tile.buffer in x.stage.written)
        loops = next(len([n for n in up if isinstance(n, Loop)]) for n, up in nested(nest.plan.tiles.body)
                     if n is at)  # fmt: skip
        count = sum(v.role == GRID for v in nest.levels) + loops
        around = tuple(replace(v, dim=kept, tail=0.0, unrolled=False) for v in nest.levels[:count])
        found = nest_of(work, x.plan, nest.machine, around)
        out += [found, *inner_nests(found)]
    return tuple(out)


def _in_tiles(plan: StagePlan) -> dict[str, Space]:
    """The arrays that need no copy from memory: other stages of the kernel fill or copy their tiles."""
    filled = {b for x in plan.inner for b in x.stage.written}
    return {
        **plan.near,
        **{c.tile.buffer: c.tile.space for c in plan.tiles.copies if c.tile.buffer in filled},
    }


def _in_memory(levels: Levels, access: AccessGroup, region: Space) -> AccessView:
    offset = Affine()
    for function, row in zip(access.linear, access.row_bytes, strict=True):
        offset += Affine() if function is None else levels.over(function).scale(row)
    return AccessView(access, region, 0, 0, dict(offset.terms))


def _in_tile(held: Tile) -> dict[str, int]:
    out: dict[str, int] = {}
    for axis, stride in zip(held.axes, held.strides, strict=True):
        for var, _, coefficient, radix in axis.variables:
            step = radix if axis.packed else coefficient
            out[var] = out.get(var, 0) + step * stride * held.sizes[0]
    return out


@dataclass(frozen=True, slots=True)
class Body:
    """Straight code of a thread: the innermost levels, from number `start` on, if they are unrolled. points:
    of a run of it; around: the loop that runs it, if there is one."""

    start: int
    levels: tuple[NestLevel, ...]
    points: int
    around: NestLevel | None


def body_of(nest: CostNest, most: float = inf) -> Body:
    """Loops that would unroll to more than `most` points stay loops."""
    k, points = len(nest.levels), 1
    while k > 0 and nest.levels[k - 1].unrolled and points * nest.levels[k - 1].parts <= most:
        k -= 1
        points *= nest.levels[k].parts
    around = nest.levels[k - 1] if k and nest.levels[k - 1].role == LOOP else None
    return Body(k, nest.levels[k:], points, around)


@dataclass(frozen=True, slots=True)
class CutLevel:
    """A level whose last part is smaller. share: of all work that is tested for it; decided: the compiler
    knows the answers."""

    level: NestLevel
    share: float
    decided: bool


def cuts(nest: CostNest) -> tuple[CutLevel, ...]:
    """Where the points of parts that the edge cuts are tested, as the lowering does it.

    Blocks that the edge cuts have a version of the code, which is chosen at run time. A loop's last part has
    code of its own, whose place the compiler knows; at most MOST_PEELS such loops are nested. Further in,
    every part tests.
    """
    found = []
    peels = int(any(v.tail for v in nest.grid))
    for k, v in enumerate(nest.levels):
        if not v.tail:
            continue
        apart = v.role == GRID or (peels < MOST_PEELS and v.parts > 1 and v.role == LOOP)
        share = (1.0 - v.tail) / max(1, v.parts - 1) if apart else 1.0
        within = [w for w in nest.levels[k + 1 :] if w.dim == v.dim and w.parts > 1]
        decided = apart and v.role != GRID and all(w.unrolled for w in within)
        peels += v.role == LOOP and apart
        found.append(CutLevel(v, share, decided))
    return tuple(found)
