"""Closing a region whose results leave by the copy engine (`@store(tma)`), piece by piece.

A warp group waits until the slot of shared memory that it writes next has been read, writes its elements of a
piece there, and one of its threads asks for the box. Elements of 16 bits are written as matrices: with the
swizzle of the box, the eight rows of each lie in different banks.
"""

from collections.abc import Collection
from dataclasses import replace
from itertools import product as product_of

from mdh.decompose.box_store import ResultBoxes, box_store, columns_of
from mdh.hardware import THREADED, Engine, Layer, Space, SyncScope
from mdh.ir.affine import Affine
from mdh.ir.atoms import GROUP_LANES, LANES
from mdh.ir.construct import ZERO, add, div, equal, loop, mod, num, number, scaled, when
from mdh.ir.copy_engine import BoxStore, StoreCommit, StoreFence, StoreWait, TensorMap
from mdh.ir.expr import Const, Expr, Load, Var, walk
from mdh.ir.kernel import Alloc, Barrier, Buf, ForKind, If, Stmt, Store
from mdh.ir.layout import Level, row_major
from mdh.ir.matrix import StoreMatrix
from mdh.ir.plan import AtomDim, Product
from mdh.ir.tile import ALIGNMENT, BOX_LINE
from mdh.ir.walk import rewritten, statements
from mdh.lower.close import close_each
from mdh.lower.nest import Nest
from mdh.lower.scope import Region, Scope

COLUMNS = 8
"""Of an atom's result that lie side by side with four lanes."""
ROWS = 16
"""Of an atom's result, with each warp."""


def result_boxes(nest: Nest, region: Region) -> ResultBoxes | None:
    """How the results of a region leave; None: thread by thread."""
    found = box_store(nest.program, nest.plan, nest.levels)
    mine = {o.buffer for o in nest.folds[region.fold].outputs}
    inner = nest.regions_of(region.fold)[0] is not region
    return None if inner or not isinstance(found, ResultBoxes) or found.buffer not in mine else found


def clips(nest: Nest, dims: Collection[int]) -> bool:
    """Whether tiles that the edge cuts along `dims` need no guards: the copy engine brings zeros from behind
    the edge, and stores nothing there."""
    if not isinstance(box_store(nest.program, nest.plan, nest.levels), ResultBoxes):
        return False
    _, product = _product(nest)
    brought = all(s.engine is Engine.TMA for step in nest.plan.steps for s in step.stagings)
    return brought and _alone(nest) and set(dims) <= {x.dim for x in (*product.m, *product.n)}


def _alone(nest: Nest) -> bool:
    """Whether the results are made of what the atoms have computed, and of nothing else that is read."""
    values = [o.value for fold in nest.folds for o in fold.outputs]
    starts = [e for fold in nest.folds for e in (*fold.starts, fold.factor) if e is not None]
    return not any(isinstance(n, Load) for e in (*values, *starts) for n in walk(e))


def close_boxed(nest: Nest, region: Region, boxes: ResultBoxes, scope: Scope) -> list[Stmt]:
    """The region's elements, atom by atom and piece by piece."""
    s, product = _product(nest)
    stage = _stage(nest, boxes)
    if _alone(nest):
        # what lies behind the edge is not stored
        scope = replace(scope, full=scope.full | {g.level.var for g in nest.levels.guards})
    # loops of the region around its atoms, and over them
    held = (nest.levels.of_var(var) for var in region.loops if var not in scope.values)
    levels = [lv for lv in held if lv.step <= s and lv.layer not in THREADED]
    levels.sort(key=lambda lv: (lv.step, lv.dim == columns_of(product).dim))
    atoms = product_of(*(range(lv.parts) for lv in levels), range(boxes.pieces))
    out: list[Stmt] = []
    for n, (*atom, piece) in enumerate(atoms):
        at = scope.with_values({lv.var: num(i) for lv, i in zip(levels, atom, strict=True)})
        out += _piece(nest, region, boxes, stage, at, piece, num(n % boxes.slots))
    return out


def store_end(nest: Nest) -> list[Stmt]:
    """At the end of the kernel: what was asked for is in the arrays."""
    if not isinstance(box_store(nest.program, nest.plan, nest.levels), ResultBoxes):
        return []
    return when(_speaks(nest), [StoreWait(0, stored=True)])


def _product(nest: Nest) -> tuple[int, Product]:
    s = nest.plan.atoms
    product = None if s is None else nest.plan.steps[s].product
    assert s is not None and product is not None
    return s, product


def _stage(nest: Nest, boxes: ResultBoxes) -> Buf:
    """[warp group][slot][row][column]"""
    shape = (boxes.groups, boxes.slots, boxes.rows, boxes.columns)
    align = BOX_LINE * (boxes.swizzle or ALIGNMENT)
    name = f"{boxes.buffer}_SM"
    buf = Buf(name, Space.SM, boxes.dtype, shape, row_major(shape), align=align, swizzle=boxes.swizzle)
    stage = nest.declare(buf)
    nest.declarations.synchronise((stage,))
    return stage


def _level(nest: Nest, dim: int, step: int) -> Level | None:
    return next((lv for lv in nest.levels.by_dim[dim] if lv.step == step), None)


def _lanes(nest: Nest) -> int:
    """The step that splits an atom into warps. Before it, one may add the places that stay empty."""
    s, product = _product(nest)
    return s + 1 + any(x.tile < x.room for x in product.dims)


def _speaks(nest: Nest) -> Expr:
    return equal(mod(Var(nest.tid), GROUP_LANES), 0)


def _piece(
    nest: Nest, region: Region, boxes: ResultBoxes, stage: Buf, scope: Scope, piece: int, slot: Expr
) -> list[Stmt]:
    groups = [lv for lv in nest.levels.all if lv.layer is Layer.WGP]
    teams = [(nest.team, nest.plan.teams)] if nest.plan.teams > 1 else []
    group = number([*teams, *((Var(lv.var), lv.parts) for lv in groups)])
    written = _written(nest, region, boxes, stage, scope, piece, (group, slot))
    stores = _stores(nest, boxes, stage, (group, slot), scope, piece)
    return [
        *when(_speaks(nest), [StoreWait(boxes.slots - 1)]),
        Barrier(SyncScope.GROUP, "the slot is free"),
        *written,
        StoreFence(),
        Barrier(SyncScope.GROUP, "the slot is filled"),
        *when(_speaks(nest), [*stores, StoreCommit()]),
    ]


def _written(
    nest: Nest, region: Region, boxes: ResultBoxes, stage: Buf, scope: Scope, piece: int,
    where: tuple[Expr, ...],
) -> list[Stmt]:  # fmt: skip
    """A warp group's elements of a piece go to the slot: 16-bit ones as matrices of 8 x 8, two blocks of 8
    columns at once, others one by one. where: the first indices of the slot."""
    s, product = _product(nest)
    # the level over blocks of 8 columns, of which a piece has some
    blocks = _level(nest, columns_of(product).dim, _lanes(nest))
    held = boxes.columns // COLUMNS
    matrices = boxes.dtype.bytes == 2
    pair = 2 if matrices and held % 2 == 0 else 1
    var, second = nest.fresh("column"), nest.fresh("block") if pair == 2 else ""
    first: Expr = ZERO if held == pair else scaled(Var(var), pair)
    within = first if pair == 1 else add(first, Var(second))
    values: dict[str, Expr] = {}
    if blocks is not None:
        values[blocks.var] = within if piece == 0 else add(num(piece * held), within)
    at = scope.with_values(values)
    if matrices:
        body = _matrices(nest, region, boxes, at, stage, where, (first, second))
    else:
        here = scope.with_values(dict.fromkeys(values, within))
        row = sum((_within(nest, x, s).scale(x.weight) for x in product.m), Affine())
        place = [nest.expr(f, here) for f in (row, _within(nest, columns_of(product), s))]
        body = _staged(nest, region, boxes, at, stage, (*where, *place))
    return body if held == pair else [loop(var, held // pair, body, ForKind.UNROLL)]


def _within(nest: Nest, x: AtomDim, s: int) -> Affine:
    """The index of a dimension, from the first element of its atom."""
    outer = {lv.var: Affine() for lv in nest.levels.all if lv.step <= s}
    return nest.levels.index[x.dim].substitute(outer)


def _staged(
    nest: Nest, region: Region, boxes: ResultBoxes, scope: Scope, into: Buf, index: tuple[Expr, ...]
) -> list[Stmt]:
    """The finished elements of a region, stored to a place of another buffer than the array."""

    def staged(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Store) and stmt.buffer == boxes.buffer:
            return Store(into.name, index, stmt.value)
        return stmt

    return list(rewritten(tuple(close_each(nest, region, scope)), staged))


def _matrices(
    nest: Nest, region: Region, boxes: ResultBoxes, scope: Scope, stage: Buf, where: tuple[Expr, ...],
    columns: tuple[Expr, str],
) -> list[Stmt]:  # fmt: skip
    """The 16 rows of a warp, in one or two blocks of 8 columns. Lane number 4 y + x has finished two elements
    of row y and two of row y + 8, of each block. columns: the first block, and the variable over both."""
    _, product = _product(nest)
    first, second = columns
    lanes = _lanes(nest)
    warps, halves = ([lv for x in product.m if (lv := _level(nest, x.dim, lanes + n))] for n in (0, 1))
    (half,) = (lv for lv in halves if lv.layer is None)
    element = _level(nest, columns_of(product).dim, lanes + 2)
    assert element is not None
    shape = (2 if second else 1, half.parts, element.parts)
    row = Buf(nest.fresh(f"{boxes.buffer}_row"), Space.RM, boxes.dtype, shape, row_major(shape), align=16)
    index: tuple[Expr, ...] = (Var(second) if second else ZERO, Var(half.var), Var(element.var))
    body = _staged(nest, region, boxes, scope, row, index)
    # an element that does not exist is nothing but a part of a matrix
    cut = any(isinstance(x, If) for x in statements(tuple(body)))
    if second:
        body = [loop(second, 2, body, ForKind.UNROLL)]
    lane = Var(nest.tid)
    warp = number((Var(lv.var), lv.parts) for lv in warps)
    begins = add(scaled(warp, ROWS), mod(lane, ROWS))
    block = add(first, div(mod(lane, LANES), ROWS)) if second else first
    place = (*where, begins, scaled(block, COLUMNS))
    source = Load(row.name, (ZERO, ZERO, ZERO), row.dtype, row.elements)
    return [
        Alloc(row, Const(0, row.dtype) if cut else None),
        *body,
        StoreMatrix(source, stage.name, place),
    ]


def _stores(
    nest: Nest, boxes: ResultBoxes, stage: Buf, slot: tuple[Expr, ...], scope: Scope, piece: int
) -> list[BoxStore]:
    s, _ = _product(nest)
    inner = {lv.var: Affine() for lv in nest.levels.all if lv.step > s}
    output = next(o for fold in nest.folds for o in fold.outputs if o.buffer == boxes.buffer)
    access = nest.access(output.index)
    assert access is not None
    first = [nest.levels.over(f).substitute(inner) for f in access]
    first[-1] = first[-1].shift(piece * boxes.columns)
    array = nest.buffers[boxes.buffer]
    said = TensorMap("", array.name, array.dtype, array.shape, boxes.box, boxes.swizzle, written=True)
    name = nest.declarations.map_of(said).name
    out = []
    for row, ahead in boxes.starts:
        start = tuple(nest.expr(f.shift(n), scope) for f, n in zip(first, ahead, strict=True))
        out.append(BoxStore(name, start, stage.name, (*slot, num(row), ZERO)))
    return out
