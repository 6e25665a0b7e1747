"""Regions of partial results (`mdh.decompose.regions`) as buffers of a kernel."""

from mdh.decompose.regions import held_axis, levels_from, openings
from mdh.hardware import Layer, Space
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr
from mdh.ir.kernel import Buf
from mdh.ir.layout import Axis, strides_for
from mdh.ir.plan import Holding
from mdh.ir.program import DimKind
from mdh.lower.fold import Fold
from mdh.lower.nest import Nest
from mdh.lower.scope import Region


def make_regions(nest: Nest, first: int = 0) -> tuple[Region, ...]:
    """Of the folds from number `first` on; outer to inner for each."""
    out: list[Region] = []
    for f, fold in list(enumerate(nest.folds))[first:]:
        buffers = [o.buffer for o in fold.outputs]
        for r in openings(nest.items, nest.stage, nest.plan.steps, buffers, reduces=fold.op is not None):
            out.append(region_of(nest, f, r.space, r.opens, r.holding))
    return tuple(out)


def region_of(nest: Nest, f: int, space: Space, opens: int, holding: Holding | None = None) -> Region:
    fold = nest.folds[f]
    inside = levels_from(nest.items, opens)
    if space is Space.SM:
        inside = (*nest.thread_levels(), *inside)
    # an operator's results have no dim that it reduces; the stored values of a prefix sum have its dim
    kinds = (DimKind.CC,) if fold.op is not None else (DimKind.CC, DimKind.PS)
    kept = frozenset(lv.var for lv in inside if nest.stage.dims[lv.dim].kind in kinds)
    held = tuple(_axis(nest, e, kept) for e in fold.outputs[0].index)
    axes = tuple(tuple((v, radix) for v, _, _, radix in axis.variables) for axis in held)
    shape = tuple(axis.points for axis in held)
    layout = holding.layout if holding is not None else tuple(range(len(shape)))
    lanes: tuple[str, ...] = ()
    if nest.cpu and space is Space.RM and fold.op is not None:
        vectors = (lv for lv in inside if lv.layer is Layer.VEC)
        lanes = tuple(lv.var for lv in vectors if nest.stage.dims[lv.dim].kind is DimKind.PW)
    for var in lanes:
        shape, axes = (*shape, nest.levels.of_var(var).parts), (*axes, ((var, 1),))
        layout = (*layout, len(shape) - 1)
    used = {v for axis in axes for v, _ in axis}
    loops = tuple(lv.var for lv in inside if lv.var in used and lv.var not in lanes)
    bufs = tuple(
        Buf(_name(nest, f, c, space), space, t, shape, strides_for(shape, layout), align=16)
        for c, t in enumerate(_types(nest, fold))
    )
    if space is Space.SM:
        nest.declarations.shared.update((b.name, b) for b in bufs)
    return Region(f, space, opens, bufs, axes, loops, lanes)


def _types(nest: Nest, fold: Fold) -> tuple[DType, ...]:
    """Accumulator types; a map's region holds the finished values in the outputs' types."""
    if fold.op is not None:
        return fold.types
    return tuple(nest.buffers[o.buffer].dtype for o in fold.outputs)


def _axis(nest: Nest, e: Expr, inside: frozenset[str]) -> Axis:
    access = nest.access((e,))
    return held_axis(nest.levels, None if access is None else access[0], 1, inside)


def _name(nest: Nest, f: int, c: int, space: Space) -> str:
    fold = nest.folds[f]
    buffer = fold.outputs[min(c, len(fold.outputs) - 1)].buffer if fold.op is None else fold.outputs[0].buffer
    suffix = (
        "" if c == 0 or fold.op is None else f"_{'key' if c == 0 else 'pos' if c == 1 else f'value{c - 1}'}"
    )
    return nest.fresh(f"{buffer}_{space}{suffix}")
