"""Regions of partial results: where each opens, what part of the output it holds.

Source: language.md section 5. A region opens outside the maximal run of enclosing sequential loops, ending
with its step's own, that carry only reduction dims. Every fold has a register region of its own at the
innermost place, so that partial results always meet in private memory first.
"""

from mdh.decompose.order import Loop, Point
from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr
from mdh.ir.kernel import Buf
from mdh.ir.layout import strides_for
from mdh.ir.plan import Holding
from mdh.ir.program import DimKind
from mdh.lower.fold import Fold
from mdh.lower.nest import Nest, Region


def make_regions(nest: Nest, first: int = 0) -> tuple[Region, ...]:
    """Of the folds from number `first` on; outer to inner for each."""
    out: list[Region] = []
    for f, fold in list(enumerate(nest.folds))[first:]:
        mine = [_declared(nest, f, p, h) for p, h in _holdings(nest, fold)]
        if fold.op is not None and not any(r.space is Space.RM for r in mine):
            mine.append(region_of(nest, f, Space.RM, _run_start(nest, len(nest.items)), None, 0))
        mine.sort(key=lambda r: (r.opens, r.space is Space.RM))
        private = next((k for k, r in enumerate(mine) if r.space is Space.RM), len(mine))
        # what one thread holds is no longer shared further in: a record's other output may say SM there
        out.extend(r for k, r in enumerate(mine) if k <= private or r.space is Space.RM)
    return tuple(out)


def _holdings(nest: Nest, fold: Fold) -> list[tuple[int, Holding]]:
    """Region entries of the fold's outputs with their item positions; several outputs share the first's."""
    found: dict[tuple[int, str], tuple[int, Holding]] = {}
    buffers = [o.buffer for o in fold.outputs]
    for p, item in enumerate(nest.items):
        if isinstance(item, Point):
            for h in item.step.holdings:
                if h.region is not None and h.buffer in buffers:
                    found.setdefault((p, h.region), (p, h))
    return list(found.values())


def _declared(nest: Nest, f: int, point: int, holding: Holding) -> Region:
    opens = _run_start(nest, point) if nest.folds[f].op is not None else point
    item = nest.items[point]
    assert isinstance(item, Point) and holding.region is not None
    return region_of(nest, f, Space(holding.region), opens, holding, item.step.number)


def _run_start(nest: Nest, point: int) -> int:
    """First item of the maximal run of sequential reduction loops that ends at `point`."""
    start = p = point
    while p > 0:
        item = nest.items[p - 1]
        if isinstance(item, Loop):
            if nest.stage.dims[item.level.dim].kind is DimKind.CC:
                break
            start = p - 1
        p -= 1
    return start


def region_of(nest: Nest, f: int, space: Space, opens: int, holding: Holding | None, number: int) -> Region:
    fold = nest.folds[f]
    inside = [it.level for it in nest.items[opens:] if isinstance(it, Loop)]
    if space is Space.SM:
        inside = [*nest.thread_levels(), *inside]
    # an operator's results have no dim that it reduces; the stored values of a prefix sum have its dim
    kinds = (DimKind.CC,) if fold.op is not None else (DimKind.CC, DimKind.PS)
    cc = [lv for lv in inside if nest.stage.dims[lv.dim].kind in kinds]
    index = fold.outputs[0].index
    axes = tuple(_axis(nest, e, {lv.var for lv in cc}) for e in index)
    shape = tuple(_extent(nest, axis) for axis in axes)
    layout = holding.layout if holding is not None else tuple(range(len(shape)))
    lanes = tuple(
        it.level.var
        for it in nest.items[opens:]
        if isinstance(it, Loop) and it.lanes and nest.cpu and nest.stage.dims[it.level.dim].kind is DimKind.PW
    )
    if space is Space.SM or fold.op is None:
        lanes = ()
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
        nest.shared.update((b.name, b) for b in bufs)
    return Region(f, space, opens, bufs, axes, loops, lanes, number)


def _types(nest: Nest, fold: Fold) -> tuple[DType, ...]:
    """Accumulator types; a map's region holds the finished values in the outputs' types."""
    if fold.op is not None:
        return fold.types
    return tuple(nest.buffers[o.buffer].dtype for o in fold.outputs)


def _axis(nest: Nest, e: Expr, inside: set[str]) -> tuple[tuple[str, int], ...]:
    """Inside variables of one output dim with their packed radices."""
    access = nest.access((e,))
    if access is None:
        return ()
    function = nest.over_levels(Affine(access[0].terms, 0))
    terms = sorted(((abs(c), v) for v, c in function.terms if v in inside))
    out, radix = [], 1
    for _, var in terms:
        out.append((var, radix))
        radix *= nest.levels.of_var(var).parts
    return tuple(reversed(out))


def _extent(nest: Nest, axis: tuple[tuple[str, int], ...]) -> int:
    n = 1
    for var, _ in axis:
        n *= nest.levels.of_var(var).parts
    return n


def _name(nest: Nest, f: int, c: int, space: Space) -> str:
    fold = nest.folds[f]
    buffer = fold.outputs[min(c, len(fold.outputs) - 1)].buffer if fold.op is None else fold.outputs[0].buffer
    suffix = (
        "" if c == 0 or fold.op is None else f"_{'key' if c == 0 else 'pos' if c == 1 else f'value{c - 1}'}"
    )
    return nest.fresh(f"{buffer}_{space}{suffix}")
