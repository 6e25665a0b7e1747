"""Builds the tile tree of a stage from its program and the steps of its schedule.

Source: language.md section 5. A staged input holds the image of its accesses over the loops inside the copy
point and, in SM, over the threads that share it. A region of partial results opens outside the loops that
carry only the reduction. It holds one element for each point of the inner loops that the output's index uses.
Every reduction has a register region at the innermost place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mdh.decompose.accesses import AccessGroup, movement, staged_groups
from mdh.decompose.image import image
from mdh.decompose.levels import make_levels
from mdh.decompose.order import in_code_order
from mdh.decompose.regions import RegionOpening, held_axis, levels_from, openings
from mdh.hardware import THREADED, Combine, Engine, Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.expr import Expr
from mdh.ir.layout import Axis, Level, Levels
from mdh.ir.plan import StagePlan, Staging
from mdh.ir.program import DimKind, Program, Result, Stage
from mdh.ir.tile import (
    ALIGNMENT,
    BOX_LINE,
    SWIZZLE_LINE,
    Compute,
    Copy,
    Finish,
    Hold,
    Item,
    Join,
    Loop,
    Node,
    Tile,
    Tiles,
    Units,
)

POSITION = 4
"""Bytes of the position that an argmin or argmax carries."""


@dataclass(frozen=True, slots=True)
class _OpenRegion:
    """A Hold without its body. opens: the item before which its body begins."""

    opens: int
    result: int
    step: int | None
    tile: Tile


@dataclass(frozen=True)
class _Tree:
    program: Program
    plan: StagePlan
    cpu: bool
    levels: Levels
    items: tuple[Item, ...]
    threads: tuple[Level, ...]
    regions: tuple[_OpenRegion, ...]

    def body(self, position: int, live: Mapping[object, Space], opened: int = 0) -> tuple[Node, ...]:
        """The nodes from item `position` on. opened: how many regions that begin here are open already."""
        here = [r for r in self.regions if r.opens == position][opened:]
        if here:
            region = here[0]
            hold = Hold(region.tile, region.result, region.step, self.body(position, live, opened + 1))
            outermost = next(r for r in self.regions if r.result == region.result)
            return (hold, Finish(region.result)) if region is outermost else (hold,)
        if position == len(self.items):
            held = {r.result for r in self.regions}
            free = (n for n in range(len(self.plan.stage.results)) if n not in held)
            return (Compute(), *map(Finish, free))
        item = self.items[position]
        if isinstance(item, Level):
            return (Loop(item, self.body(position + 1, live)),)
        copies = []
        step = self.plan.steps[item]
        for staging in step.stagings:
            for group in staged_groups(self.program, self.plan.stage, staging.buffer):
                if group.gather and staging.region is Space.RM:
                    continue  # K154 refuses it
                key = (staging.buffer, group.affine)
                tile = self._staged(staging, group, position, step.stages)
                source = live.get(key, Space.DM)
                copies.append(Copy(tile, source, staging.engine, item, group.affine))
                live = {**live, key: tile.space}
        return (*copies, *self.body(position + 1, live))

    def _staged(self, staging: Staging, group: AccessGroup, position: int, stages: int) -> Tile:
        shared = self.threads if staging.region is Space.SM else ()
        inside = frozenset(lv.var for lv in (*shared, *levels_from(self.items, position)))
        # on a CPU nothing copies into SM while the work-item computes
        slots = 1 if self.cpu and staging.region is Space.SM else stages
        aligned = staging.region is Space.SM and slots > 1
        unit = SWIZZLE_LINE if staging.swizzle else ALIGNMENT if aligned else group.size
        axes = image(self.levels, group.affine, group.shifts, inside)
        if group.gather:
            axes = tuple(Axis(Affine(), n, False, ()) for n in group.shape)
        span = 0
        if staging.engine is Engine.TMA:
            unit = BOX_LINE * (staging.swizzle or ALIGNMENT)
            whole = staging.swizzle // group.size
            span = whole if whole and axes[-1].extent > whole else 0
        return Tile(
            staging.buffer,
            staging.region,
            (group.size,),
            axes,
            staging.layout,
            staging.pad,
            staging.swizzle,
            slots,
            unit,
            span,
        )


def decompose(program: Program, plan: StagePlan, *, cpu: bool, taken: Iterable[str] = ()) -> Tiles:
    """The tile tree of a stage. Requires that the splits cover every dimension (K120, K121).

    For a stage with prefix sums or a scattered output the tree only says which tiles lie where, because the
    lowering makes several passes over the data there. taken: names that no variable may have, besides those
    of the program and the stage.
    """
    own = [d.name for d in plan.stage.dims] + [let.name for let in plan.stage.lets]
    levels = make_levels(plan, {*program.params, *program.buffer_of, *program.turns, *own, *taken})
    return tiles_in_order(program, plan, levels, in_code_order(plan, levels.all, cpu=cpu), cpu=cpu)


def tiles_in_order(
    program: Program, plan: StagePlan, levels: Levels, items: tuple[Item, ...], *, cpu: bool
) -> Tiles:
    """The tile tree of a stage whose loops and steps stand in an order that is given."""
    threads = () if cpu else tuple(lv for lv in levels.all if lv.layer in THREADED)
    regions = _regions(program, plan, levels, items, threads, cpu)
    build = _Tree(program, plan, cpu, levels, items, threads, regions)
    body = build.body(0, {})
    loops = (None, Layer.VEC, *(THREADED if cpu else ()))
    units = [(lv.layer, lv) for lv in levels.all if lv.layer is not None and lv.layer not in loops]
    for _, level in sorted(units, key=lambda unit: (-unit[0].depth, unit[1].axis)):
        body = (Units(level, body),)
    return Tiles(plan.stage, levels, _joined(body, plan.combines), items, threads)


def with_tiles(plan: StagePlan, tiles: Tiles) -> StagePlan:
    """The plan with its tile tree. tiles: the tree as decomposed before the combine methods were chosen."""
    return replace(plan, decomposed=replace(tiles, body=_joined(tiles.body, plan.combines)))


def _joined(body: tuple[Node, ...], combines: tuple[tuple[Combine, ...], ...]) -> tuple[Node, ...]:
    """The tree with a Join before each Finish of a result that several units hold."""
    out: list[Node] = []
    for node in body:
        match node:
            case Units() | Loop() | Hold():
                out.append(replace(node, body=_joined(node.body, combines)))
            case Finish(result) if result < len(combines) and combines[result]:
                out.extend((Join(result, combines[result]), node))
            case _:
                out.append(node)
    return tuple(out)


def _regions(
    program: Program, plan: StagePlan, levels: Levels, items: tuple[Item, ...], threads: tuple[Level, ...],
    cpu: bool,
) -> tuple[_OpenRegion, ...]:  # fmt: skip
    """The regions of all results, from outside in."""
    stage, out = plan.stage, list[_OpenRegion]()
    scans = any(d.kind is DimKind.PS for d in stage.dims)
    for n, result in enumerate(stage.results):
        buffers, sums = {o.buffer for o in result.outputs}, result.op is not None
        found = [(r, sums) for r in openings(items, stage, plan.steps, buffers, reduces=sums)]
        if scans and sums:
            # the values that a prefix sum stores are held like those of a map, besides the running value
            found = [(r, False) for r in openings(items, stage, plan.steps, buffers, reduces=False)]
            found += [(r, True) for r in openings(items, stage, plan.steps, (), reduces=True)]
        if stage.scattered:
            found = [(r, sums) for r, sums in found if r.holding is not None]
        for r, partial in found:
            inside = (*(threads if r.space is Space.SM else ()), *levels_from(items, r.opens))
            tile = _held(program, stage, levels, result, r, inside, partial=partial, cpu=cpu)
            out.append(_OpenRegion(r.opens, n, r.step, tile))
    return tuple(sorted(out, key=lambda r: (r.opens, r.tile.space is Space.RM, r.result)))


def _held(
    program: Program, stage: Stage, levels: Levels, result: Result, region: RegionOpening,
    inside: tuple[Level, ...], *, partial: bool, cpu: bool,
) -> Tile:  # fmt: skip
    """The tile of partial results, in the types that they are combined in, or of stored values, in the
    outputs' types."""
    output = result.outputs[0]
    shape = program.buffer_of[output.buffer].shape
    axes, layout = held_axes(
        program, stage, levels, output.index, shape, region, inside, partial=partial, cpu=cpu
    )
    stored = tuple(program.buffer_of[o.buffer].dtype.bytes for o in result.outputs)
    sizes = state_sizes(result) if partial else stored
    pad = region.holding.pad if region.holding is not None else 0
    return Tile(output.buffer, region.space, sizes, axes, layout, pad)


def held_axes(
    program: Program, stage: Stage, levels: Levels, output: tuple[Expr, ...], shape: Iterable[int],
    region: RegionOpening, inside: tuple[Level, ...], *, partial: bool, cpu: bool,
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:  # fmt: skip
    """(axes, layout) of the part of an output that a region holds: its dimensions, then the lanes of vectors
    whose partial results stay apart.

    output, shape: its index and extents. inside: the levels that run while the region is open.
    """
    kinds = (DimKind.CC,) if partial else (DimKind.CC, DimKind.PS)
    kept = frozenset(lv.var for lv in inside if stage.dims[lv.dim].kind in kinds)
    axes = []
    for e, extent in zip(output, shape, strict=True):
        axes.append(held_axis(levels, movement(program, stage, e), extent, kept))
    layout = tuple(range(len(axes)))
    if region.holding is not None and len(region.holding.layout) == len(axes):
        # the entry may name another output of the result, of another rank
        layout = region.holding.layout
    if cpu and region.space is Space.RM and partial:
        for lv in inside:
            if lv.layer is Layer.VEC and stage.dims[lv.dim].kind is DimKind.PW:
                layout = (*layout, len(axes))
                axes.append(Axis(Affine(), lv.parts, True, ((lv.var, lv.parts, 1, 1),)))
    return tuple(axes), layout


def state_sizes(result: Result) -> tuple[int, ...]:
    """Bytes of each component of a partial result. A record also holds the position."""
    sizes = tuple(t.bytes for t in result.types)
    record = result.op is not None and result.op.name.startswith("arg")
    return (*sizes, POSITION) if record else sizes
