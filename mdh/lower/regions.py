"""Regions of partial results (`mdh.decompose.regions`) as buffers of a kernel."""

from dataclasses import replace

from mdh.decompose.regions import RegionOpening, levels_from, openings
from mdh.decompose.tiles import held_axes
from mdh.hardware import Space
from mdh.ir.dtype import DType
from mdh.ir.kernel import Buf
from mdh.ir.layout import strides_for
from mdh.lower.fold import Fold
from mdh.lower.nest import Nest
from mdh.lower.scope import Region


def make_regions(nest: Nest, first: int = 0) -> tuple[Region, ...]:
    """Of the folds from number `first` on; outer to inner for each."""
    out: list[Region] = []
    for f, fold in list(enumerate(nest.folds))[first:]:
        buffers = [o.buffer for o in fold.outputs]
        for r in openings(nest.items, nest.stage, nest.plan.steps, buffers, reduces=fold.op is not None):
            out.append(region_of(nest, f, r))
    return tuple(out[:-1]) + tuple(_promoted(nest, r) for r in out[-1:])


def _promoted(nest: Nest, region: Region) -> Region:
    """The innermost region of the sum that atoms compute, with the first accumulator of `@promote`."""
    s = nest.plan.atoms
    if s is None or nest.plan.steps[s].promote is None:
        return region
    buf = region.bufs[0]
    return replace(region, first=replace(buf, name=nest.fresh(f"{buf.name}_first")))


def region_of(nest: Nest, f: int, opening: RegionOpening) -> Region:
    """The region of fold f that opens there."""
    fold, space = nest.folds[f], opening.space
    inside = levels_from(nest.items, opening.opens)
    if space is Space.SM:
        inside = (*nest.thread_levels(), *inside)
    # the points of an index that is data are one element
    index = fold.outputs[0].index
    held, layout = held_axes(
        nest.program, nest.stage, nest.levels, index, [1] * len(index), opening, inside,
        partial=fold.op is not None, cpu=nest.cpu,
    )  # fmt: skip
    axes = tuple(tuple((v, radix) for v, _, _, radix in axis.variables) for axis in held)
    lanes = tuple(v for axis in axes[len(index) :] for v, _ in axis)
    used = {v for axis in axes for v, _ in axis}
    loops = tuple(lv.var for lv in inside if lv.var in used and lv.var not in lanes)
    shape = tuple(axis.points for axis in held)
    pad = opening.holding.pad if opening.holding is not None else 0
    bufs = tuple(
        Buf(_name(nest, f, c, space), space, t, shape, strides_for(shape, layout, pad), align=16)
        for c, t in enumerate(_types(nest, fold))
    )
    if space is Space.SM:
        nest.declarations.shared.update((b.name, b) for b in bufs)
    return Region(f, space, opening.opens, bufs, axes, loops, lanes)


def _types(nest: Nest, fold: Fold) -> tuple[DType, ...]:
    """Accumulator types; a map's region holds the finished values in the outputs' types."""
    if fold.op is not None:
        return fold.types
    return tuple(nest.buffers[o.buffer].dtype for o in fold.outputs)


def _name(nest: Nest, f: int, c: int, space: Space) -> str:
    fold = nest.folds[f]
    if fold.op is None:
        return nest.fresh(f"{fold.outputs[c].buffer}_{space}")
    return nest.fresh(f"{fold.outputs[0].buffer}_{space}{fold.suffix(c)}")
