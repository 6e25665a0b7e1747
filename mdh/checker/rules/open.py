"""K117 and K118: what a schedule does with dimensions whose extents open sizes give at the call."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, Subject, at, listed, step_name
from mdh.diagnostics import Diagnostic, Label, labels_at
from mdh.hardware import BlockOrder, Engine, Layer, Space
from mdh.ir.plan import PlanStep, Split
from mdh.ir.program import DimKind
from mdh.ir.tile import Tile

CODE, LATER = "K117", "K118"


def check_open_tiles(draft: Draft) -> Iterator[Diagnostic]:
    """K117. For each dim d with an open extent: step 0 writes `^`, and each tile is smaller than the largest
    extent. So the first tile that is a number splits the dimension, and all tiles inside are literals."""
    opened = [(d, dim) for d, dim in enumerate(draft.stage.dims) if dim.open is not None]
    for n, step in enumerate(draft.steps, start=1):
        for d, dim in opened:
            tile = step.tiles[d]
            if not isinstance(tile.value, int):
                continue
            labels = at(tile.span or step.span) + at(dim.span, f"its extent is {dim.open}")
            if step is draft.initial:
                headline = f"step 0 gives `{dim.name}` the extent {tile.value}, but it stays open"
                yield Diagnostic(CODE, headline, labels, help="write `^`: each call gives the extent")
            elif tile.value == dim.extent:
                headline = f"{step_name(step, n)} has the largest extent of `{dim.name}` as its tile"
                said = f"`^`, or a tile from 1 to {dim.extent - 1}"
                yield Diagnostic(CODE, headline, labels, help=said)


def check_open_splits(subject: Subject) -> Iterator[Diagnostic]:
    """K117. The outermost split of a dim with an open extent is over BLK, or a sequential loop. The parts of
    all other units are fixed.

    K118. What the lowering cannot do yet with such a split, or in a stage with open extents.
    """
    if all(dim.open is None for dim in subject.stage.dims):
        return
    yield from _stage(subject)
    for i, step in enumerate(subject.plan.steps):
        for split in (s for s in step.splits if s.open is not None):
            name, place = subject.dim(split.dim), subject.at_core(i, split.dim)
            labels = place + subject.at_dim(split.dim, f"its extent is {split.open}")
            if split.layer not in (None, Layer.BLK):
                headline = f"{split.layer} takes the outermost parts of `{name}`, whose number the call gives"
                yield Diagnostic(CODE, headline, labels, help="split it over BLK or by a loop (`^`) first")
            elif split.layer is Layer.BLK:
                yield from _blocks(subject, i, split, labels)
            else:
                yield from _loop(subject, i, step, split, labels)


def _stage(subject: Subject) -> Iterator[Diagnostic]:
    """K118 for a whole stage."""
    plan, stage = subject.plan, subject.stage
    opened = [d for d, dim in enumerate(stage.dims) if dim.open is not None]
    names = listed(subject.dim(d) for d in opened)
    where = subject.at_dim(opened[0], f"its extent is {stage.dims[opened[0]].open}")
    what = ""
    if any(dim.kind is DimKind.PS for dim in stage.dims):
        what = "a stage with a prefix sum"
    elif stage.scattered:
        what = "a stage that stores where data says"
    elif plan.atoms is not None:
        what = "a stage with atoms of tensor cores"
        where = (*subject.at_step(plan.atoms), *where)
    elif plan.roles is not None:
        what = "a stage with roles"
    elif plan.clustered:
        what = "a stage whose blocks form clusters"
    if what:
        yield Diagnostic(LATER, f"{names} cannot stay open yet in {what}", where, help="bind the sizes")
    for i, step in enumerate(plan.steps):
        boxed = [s.buffer for s in step.stagings if s.engine is Engine.TMA]
        boxed += [h.buffer for h in step.holdings if h.engine is Engine.TMA]
        for name in (b for b in boxed if subject.program.buffer_of[b].open):
            headline = f"the copy engine cannot move `{name}` yet, whose extents stay open"
            yield Diagnostic(
                LATER, headline, subject.at_entry(i, name), help="@copy(async), or bind the sizes"
            )


def _blocks(subject: Subject, i: int, split: Split, labels: tuple[Label, ...]) -> Iterator[Diagnostic]:
    name, plan = subject.dim(split.dim), subject.plan
    if subject.stage.dims[split.dim].kind is not DimKind.CC:
        headline = f"blocks cannot share the open reduction over `{name}` yet"
        yield Diagnostic(LATER, headline, labels, help="make it a sequential loop: `^`")
    if plan.grid.order is BlockOrder.HILBERT:
        headline = f"`@order(hilbert)` cannot order a grid yet whose size along `{name}` stays open"
        place = subject.at_step_attr(i, "order") or labels
        yield Diagnostic(LATER, headline, place, help="`@order(grouped(8))`, or bind the size")
    if plan.streamed:
        headline = f"`@combine(stream)` cannot share the work yet of a grid that stays open along `{name}`"
        yield Diagnostic(LATER, headline, labels, help="another combine method, or bind the size")


def _loop(
    subject: Subject, i: int, step: PlanStep, split: Split, labels: tuple[Label, ...]
) -> Iterator[Diagnostic]:
    name = subject.dim(split.dim)
    if step.stages > 1 and any(s.region is Space.RM for s in step.stagings):
        headline = f"`@stages` cannot fill registers ahead yet in the loop over `{name}`, which stays open"
        place = subject.at_step_attr(i, "stages") or labels
        yield Diagnostic(LATER, headline, place, help="leave it out, or bind the size")
    if step.unroll == 0:
        headline = f"the loop over `{name}` cannot be unrolled whole: its trip count stays open"
        place = subject.at_step_attr(i, "unroll") or labels
        yield Diagnostic(CODE, headline, place, help="`@unroll(4)` unrolls by 4")
    if any(s.window for s in step.stagings):
        headline = f"`@window` cannot slide along `{name}` yet, whose extent stays open"
        yield Diagnostic(LATER, headline, labels, help="leave it out, or bind the size")


def check_open_tiles_kept(subject: Subject) -> Iterator[Diagnostic]:
    """K117. No copy and no region of partial results spans an open extent: each lies inside of the outermost
    split of the dimensions that its part goes along."""
    opened = {lv.var: lv for lv in subject.tiles.levels.all if lv.open is not None}
    for node in subject.tiles.kept if opened else ():
        for lv in (opened[v] for v in _spanned(node.tile) if v in opened):
            buffer, name = node.tile.buffer, subject.dim(lv.dim)
            labels = () if node.step is None else subject.at_entry(node.step, buffer)
            inner = subject.at_core(lv.step, lv.dim, "split here")
            headline = (
                f"the part of `{buffer}` in {node.tile.space} goes along all of `{name}`, which stays open"
            )
            hint = f"split `{name}` outside of it"
            yield Diagnostic(CODE, headline, (*labels, *inner) or labels_at(subject.draft.span), help=hint)


def _spanned(tile: Tile) -> list[str]:
    return [name for axis in tile.axes for name, *_ in axis.variables]
