"""A stage plan as a list of loops with the places where something is copied, held or read between them."""

from dataclasses import dataclass
from math import prod

from mdh.checker.loops import code_items, code_loops
from mdh.hardware import BLOCKED, THREADED, Layer, Space
from mdh.ir.layout import Level as Digit
from mdh.ir.plan import StagePlan, Staging
from mdh.ir.program import DimKind
from mdh.machine import Machine
from mdh.tuner.prior.facts import Access, Facts

GRID, THREAD, LOOP, LANE = "grid", "thread", "loop", "lane"


@dataclass(frozen=True, slots=True)
class Level:
    """One loop or unit. stride: elements of `dim` from one part to the next. unrolled: it leaves no branch.
    tail: share of the points that lie in a last part that is smaller than the others, so that they are
    guarded."""

    dim: int
    parts: int
    stride: int
    role: str
    axis: int
    step: int
    unrolled: bool
    tail: float


@dataclass(frozen=True, slots=True)
class View:
    """An access as the code makes it: of the buffer itself, or of its innermost copy.

    region: DM, SM or RM. strides: bytes from point to point along each dim of the stage (0: does not move,
    None: data). outer: number of leading levels outside of the copy (0 for DM); bytes: of the whole copy.
    """

    access: Access
    region: Space
    strides: tuple[int | None, ...]
    outer: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Copy:
    """A staged input: `elements` of it a time, each time that the levels before `position` go on.

    source: where it comes from; strides: bytes there along each dim of the stage, as in View. straight: the
    fastest dim is the same on both sides. staging: what the schedule says of it. slots: @stages of its step.
    rows: bytes of the copy between neighbours along each dim of the buffer.
    """

    access: Access
    staging: Staging
    source: Space
    position: int
    extents: tuple[int, ...]
    elements: int
    slots: int
    straight: bool
    strides: tuple[int | None, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """Where partial results live, innermost: from before level `opens` on, `elements` of them a thread.

    turns: how often it opens for one result, that is how often results are merged outward.
    """

    region: Space
    opens: int
    elements: int
    turns: int


@dataclass(frozen=True)
class Nest:
    """levels: the grid, then loops in code order, lanes last. threads: units of a block (GPU), x fastest."""

    facts: Facts
    plan: StagePlan
    levels: tuple[Level, ...]
    threads: tuple[Level, ...]
    views: tuple[View, ...]
    copies: tuple[Copy, ...]
    region: Region
    shared: int
    """Bytes of SM copies, all slots."""
    fragments: int
    """Bytes of RM copies of a thread, all slots."""

    @property
    def grid(self) -> tuple[Level, ...]:
        return tuple(v for v in self.levels if v.role == GRID)

    @property
    def blocks(self) -> int:
        return prod(v.parts for v in self.levels if v.role == GRID)

    @property
    def block_threads(self) -> int:
        return prod(v.parts for v in self.threads)

    @property
    def lanes(self) -> Level | None:
        return next((v for v in self.levels if v.role == LANE), None)


def nest_of(facts: Facts, plan: StagePlan, machine: Machine) -> Nest:
    cpu = machine.kind == "cpu"
    loops = code_loops(plan)
    grid = sorted((x for x in loops if x.layer in BLOCKED), key=lambda x: (-x.axis, x.step))
    threads = [x for x in loops if x.layer in THREADED] if not cpu else []
    # warps are numbered above their lanes, threads with x fastest
    threads.sort(key=lambda x: (THREADED.index(x.layer or Layer.THR), -x.axis))
    items = code_items(plan, cpu=cpu)
    ordered = [x for x in items if isinstance(x, Digit)]
    place: dict[int, int] = {}
    count = len(grid)
    for item in items:
        if isinstance(item, Digit):
            count += 1
        else:
            place[item] = count
    opens = _opens(facts, plan, ordered, place, len(grid))
    levels = [_level(plan, x, GRID, False) for x in grid]
    for k, x in enumerate(ordered):
        inside = len(grid) + k >= opens
        levels.append(_loop(facts, plan, x, inside))
    thread_levels = tuple(_level(plan, x, THREAD, False) for x in threads)
    return _with_memory(facts, plan, tuple(levels), thread_levels, place, opens, cpu)


def _level(plan: StagePlan, x: Digit, role: str, unrolled: bool) -> Level:
    stride = x.cyclic if x.cyclic and x.cyclic < x.tile else x.tile
    rest = x.parent % x.tile
    return Level(x.dim, x.parts, stride, role, x.axis, x.step, unrolled, rest / x.parent)


def _loop(facts: Facts, plan: StagePlan, x: Digit, inside: bool) -> Level:
    """Loops that index registers are unrolled, as are those that the schedule says."""
    if x.layer == Layer.VEC:
        return _level(plan, x, LANE, True)
    step = plan.steps[x.step]
    held = inside and facts.kinds[x.dim] is DimKind.CC and facts.results[0].op is not None
    return _level(plan, x, LOOP, step.unroll == 0 or held)


def _opens(facts: Facts, plan: StagePlan, ordered: list[Digit], place: dict[int, int], first: int) -> int:
    """Level before which the innermost region of results opens; behind all levels for a map without one."""
    held = [place[i] for i in plan.code_order for h in plan.steps[i].holdings if h.region == Space.RM]
    reduces = facts.results[0].op is not None
    if not reduces:
        return held[0] if held else first + len(ordered)
    end = held[0] if held else first + len([x for x in ordered if x.layer != Layer.VEC])
    start = end
    for p in reversed(range(first, end)):
        if facts.kinds[ordered[p - first].dim] is DimKind.CC:
            break
        start = p
    return start


def _with_memory(
    facts: Facts,
    plan: StagePlan,
    levels: tuple[Level, ...],
    threads: tuple[Level, ...],
    place: dict[int, int],
    opens: int,
    cpu: bool,
) -> Nest:
    copies: list[Copy] = []
    live: dict[Access, Copy] = {}
    shared = fragments = 0
    for i in plan.code_order:
        step = plan.steps[i]
        for staging in step.stagings:
            inside = [*levels[place[i] :]]
            if staging.region == Space.SM:
                inside += threads
            for access in facts.accesses:
                if access.buffer != staging.buffer or access.store or access.gather:
                    continue
                slots = 1 if cpu else step.stages
                before = _view(facts, access, live.get(access))
                copy = _copy(before, staging, place[i], slots, _points(facts, inside))
                copies.append(copy)
                live[access] = copy
                used = copy.elements * access.size * slots
                if staging.region == Space.SM:
                    shared += used
                else:
                    fragments += used
    views = tuple(_view(facts, a, live.get(a)) for a in facts.accesses)
    region = _region(facts, plan, levels, opens)
    return Nest(facts, plan, levels, threads, views, tuple(copies), region, shared, fragments)


def _points(facts: Facts, levels: list[Level]) -> list[int]:
    """Points of each dim that the levels run over, at most its extent."""
    out = [1] * len(facts.extents)
    for v in levels:
        out[v.dim] *= v.parts
    return [min(n, e) for n, e in zip(out, facts.extents, strict=True)]


def extents_of(access: Access, points: list[int]) -> tuple[int, ...]:
    """The box of the buffer that an access reaches while each dim of the stage takes so many values."""
    out = []
    for terms, spread, n in zip(access.index, access.spread, access.shape, strict=True):
        if terms is None:
            out.append(n)
            continue
        e = spread + 1
        packed = 1
        for d, c in terms:
            e += (c if c > 0 else -c) * (points[d] - 1)
            packed *= points[d]
        out.append(min(n, e if spread else min(e, packed)))
    return tuple(out)


def _copy(before: View, staging: Staging, position: int, slots: int, points: list[int]) -> Copy:
    access = before.access
    extents = extents_of(access, points)
    last = len(extents) - 1
    straight = not staging.layout or staging.layout[-1] == last or extents[last] == 1
    rows = [0] * len(extents)
    step = access.size
    for n, k in enumerate(reversed(staging.layout)):
        rows[k] = step
        step *= extents[k]
        if n == 0:
            step += staging.pad * access.size
    return Copy(
        access, staging, before.region, position, extents, prod(extents), slots, straight, before.strides,
        tuple(rows),
    )  # fmt: skip


def _view(facts: Facts, access: Access, live: Copy | None) -> View:
    if live is not None:
        region, outer, size, rows = live.staging.region, live.position, live.elements * access.size, live.rows
    else:
        region, outer, size, rows = Space.DM, 0, 0, row_bytes(access)
    moved = [0] * len(facts.extents)
    for terms, row in zip(access.index, rows, strict=True):
        for d, c in terms or ():
            moved[d] += c * row
    # every dim without a place of its own in a gather's index may move it anywhere
    strides = tuple(n if n or not access.gather else None for n in moved)
    return View(access, region, strides, outer, size)


def row_bytes(access: Access) -> tuple[int, ...]:
    """Bytes between neighbours of the buffer along each of its dims."""
    out = []
    step = access.size
    for n in reversed(access.shape):
        out.append(step)
        step *= n
    return tuple(reversed(out))


def _region(facts: Facts, plan: StagePlan, levels: tuple[Level, ...], opens: int) -> Region:
    held = [h.region for s in plan.steps for h in s.holdings if h.region is not None]
    if facts.results[0].op is None:
        return Region(
            Space.RM if Space.RM in held else Space.DM, opens, prod(v.parts for v in levels[opens:]), 1
        )
    elements = prod(v.parts for v in levels[opens:] if facts.kinds[v.dim] is DimKind.CC)
    lanes = prod(v.parts for v in levels if v.role == LANE and facts.kinds[v.dim] is DimKind.PW)
    turns = prod(v.parts for v in levels[:opens] if v.role == LOOP and facts.kinds[v.dim] is DimKind.PW)
    return Region(Space.RM, opens, elements * lanes, turns)
