"""Stagings: copies of an input's part into shared memory or registers.

Shared memory is filled by all threads of the block together: the part's elements are dealt to threads in the
order of the source, so that neighbours read neighbours, as wide as alignment and contiguity are proven.
Registers are filled by each thread for itself.
"""

from collections import Counter
from dataclasses import dataclass, replace

from mdh.decompose.multicast import Sharing, sharing_of
from mdh.hardware import Engine, Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, add, at_least, conjunction, digit, div, less, loop, mod, scaled, shifted
from mdh.ir.expr import Expr, Var
from mdh.ir.kernel import Alloc, Buf, ForKind, Let, Move, Stmt
from mdh.ir.layout import Axis, row_major
from mdh.ir.plan import Staging
from mdh.ir.tile import BOX_LINE, Boxes
from mdh.ir.tile import Copy as Node
from mdh.lower.deal import deal, wrap
from mdh.lower.nest import Nest, dm_buf
from mdh.lower.overread import Overread, Slack, no_overread, overread
from mdh.lower.scope import Instance, Key, Point, Scope, whole

VECTOR_BYTES = 16
WORDS = (4, 8, 16)
"""Bytes that one instruction moves."""
VECTOR_LANES = 16
"""Elements of OpenCL's longest vectors."""


@dataclass(frozen=True, slots=True)
class StagedCopy:
    """One staged access group: `dst` receives what `src` holds of `buffer`.

    offset: where the copied part begins in the buffer of `dst`, by dim; empty: at its start. boxes: in which
    the copy engine copies it. sharing: with other blocks of the cluster.
    """

    staging: Staging
    key: Key
    dst: Instance
    src: Instance
    offset: tuple[int, ...] = ()
    boxes: Boxes | None = None
    sharing: Sharing | None = None

    def into(self, slot: Affine) -> "StagedCopy":
        """The copy into one of the slots of `dst`."""
        return replace(self, dst=replace(self.dst, slot=slot))


def plan_copies(nest: Nest, number: int, scope: Scope, *, pipelined: bool = False) -> list[StagedCopy]:
    """The copies of the step with this number, and the instances they make: one for each copy of the tile
    tree. pipelined: the instances have all of their slots."""
    out = []
    count: Counter[tuple[str, Space]] = Counter()
    for node in nest.tiles.copies:
        if node.step == number:
            place = (node.tile.buffer, node.tile.space)
            count[place] += 1
            staging = next(s for s in nest.plan.steps[number].stagings if (s.buffer, s.region) == place)
            slots = node.tile.slots if pipelined else 1
            out.append(_copy(nest, node, staging, scope, slots, count[place]))
    return out


def _copy(nest: Nest, node: Node, staging: Staging, scope: Scope, slots: int, number: int) -> StagedCopy:
    """number: among the copies of the buffer at this place, which are told apart by it."""
    tile = node.tile
    key = (tile.buffer, node.linear)
    dtype = nest.buffers[tile.buffer].dtype
    src = scope.live.get(key) or whole(dm_buf(nest.buffers[tile.buffer], readonly=True))
    shape, strides = tile.shape, tile.strides
    if tile.span:
        shape = (shape[-1] // tile.span, *shape[:-1], tile.span)
        strides = row_major(shape)
    if slots > 1:
        shape = (slots, *shape)
        strides = (tile.bytes // tile.slots // dtype.bytes, *strides)
    if tile.space is not Space.SM:
        buf = Buf(nest.fresh(f"{tile.buffer}_RM"), tile.space, dtype, shape, strides, align=VECTOR_BYTES)
        return StagedCopy(staging, key, Instance(buf, tile.axes), src)
    # copies of copies in shared memory (packing at two levels) have names of their own
    suffix = f"{number if number > 1 else ''}{2 if src.buf.space is Space.SM else ''}"
    name = f"{tile.buffer}_SM{suffix}"
    piped = nest.declarations.with_slots(name, shape, strides) if slots == 1 else None
    if piped is not None:
        # the last, shorter part of a pipelined loop goes through the pipeline's first slot
        return StagedCopy(staging, key, Instance(piped, tile.axes, Affine()), src)
    boxed = staging.engine is Engine.TMA
    align = BOX_LINE * (tile.swizzle or VECTOR_BYTES) if boxed else VECTOR_BYTES
    buf = Buf(name, tile.space, dtype, shape, strides, align=align, swizzle=tile.swizzle)
    instance = Instance(nest.declare(buf), tile.axes, span=tile.span)
    sharing = sharing_of(nest.plan, nest.tiles, node) if staging.multicast else None
    return StagedCopy(staging, key, instance, src, boxes=tile.boxes if boxed else None, sharing=sharing)


def emit_copy(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """Statements that fill the instance; the live instances of `scope` are those outside the copy."""
    if copy.dst.buf.space is Space.SM and not nest.cpu and nest.threads > 1:
        return _cooperative(nest, copy, scope)
    return _private(nest, copy, scope)


# -- one thread --------------------------------------------------------------------------------


def _private(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """A loop nest over the instance's coordinates, in the order of its storage, unrolled for registers."""
    dst = copy.dst.buf
    kind = ForKind.UNROLL if dst.space is Space.RM else ForKind.SEQ
    shape = tuple(a.extent for a in copy.dst.axes)
    names = [nest.fresh(f"c_{copy.staging.buffer}{k}") for k in range(len(shape))]
    lanes = _lanes(nest, copy, scope)
    order = sorted(range(len(shape)), key=lambda k: -dst.strides[k + len(dst.shape) - len(shape)])
    coordinates: list[Expr] = [Var(name) if n > 1 else ZERO for name, n in zip(names, shape, strict=True)]
    body: tuple[Stmt, ...] = (_move(nest, copy, coordinates, lanes, scope),)
    for k in reversed(order):
        if shape[k] == 1:
            continue
        step = lanes if k == len(shape) - 1 else 1
        if step == shape[k]:
            body = (Let(names[k], ZERO), *body)
        else:
            body = (loop(names[k], shape[k], body, kind, step=step),)
    return list(body)


def _move(nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope) -> Stmt:
    """dst[coordinates] = the program element there, zero where it is outside of the buffer."""
    dst_index, src_index = addresses(nest, copy, coordinates, scope)
    pred, slack = in_bounds(nest, copy, src_index, scope)
    nest.declarations.extend(slack)
    return Move(
        copy.dst.buf.name, dst_index, copy.src.buf.name, src_index, lanes,
        copy.staging.engine, copy.staging.cache, pred, exact=copy.staging.vec is not None,
    )  # fmt: skip


def addresses(
    nest: Nest, copy: StagedCopy, coordinates: list[Expr], scope: Scope
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """(index in dst, index in src) of the element at the instance's coordinates."""
    offset = copy.offset or (0,) * len(coordinates)
    dst = [shifted(c, n) for c, n in zip(coordinates, offset, strict=True)]
    axes = zip(copy.dst.axes, copy.src.axes, coordinates, strict=True)
    src = [_source_index(nest, axis, source, c, scope) for axis, source, c in axes]
    if copy.src.span:
        src = [div(src[-1], copy.src.span), *src[:-1], mod(src[-1], copy.src.span)]
    slots = [() if i.slot is None else (nest.expr(i.slot, scope),) for i in (copy.dst, copy.src)]
    return (*slots[0], *dst), (*slots[1], *src)


def _source_index(nest: Nest, axis: Axis, source: Axis, c: Expr, scope: Scope) -> Expr:
    """The index along the source's axis of the element at coordinate c of `axis`."""
    # digits of the coordinate stand for the variables that the tile runs over
    digits = {name: digit(c, radix, parts, axis.points) for name, parts, _, radix in axis.variables}
    if source.packed and not axis.packed:
        return nest.expr(source.local(Affine()), scope.with_values(digits))
    pace = None if source.packed else axis.pace
    if pace is not None:
        where = source.local(axis.low + Affine.of({"@c": pace}))
        return nest.expr(where, scope.with_values({"@c": c}))
    inside = Affine.of({name: coefficient for name, _, coefficient, _ in axis.variables})
    return nest.expr(source.local(axis.low + inside), scope.with_values(digits))


def in_bounds(
    nest: Nest, copy: StagedCopy, where: tuple[Expr, ...], scope: Scope
) -> tuple[Expr | None, Slack]:
    """The condition that an index lies in the copy's source (`where`: in the source's own coordinates), None
    where that is proven; and the slack of buffers without which it is not."""
    ranges = nest.ranges(scope)
    terms: list[Expr] = []
    past = _overread(nest, copy, scope)
    axes = zip(copy.dst.axes, copy.src.axes, where[len(where) - len(copy.dst.axes) :], strict=True)
    for k, (axis, source, e) in enumerate(axes):
        if source.packed:
            continue
        size = source.extent
        low, high = source.local(axis.low).bounds(ranges)
        reach = axis.extent - 1
        if axis.packed:
            reach = sum(abs(c) * (parts - 1) for _, parts, c, _ in axis.variables)
        if low < 0:
            terms.append(at_least(e, 0))
        further = past if high + reach < size else past.along(k, high + reach - size + 1)
        if further is None:
            terms.append(less(e, size))
        else:
            past = further
    return conjunction(terms), past.slack


def _overread(nest: Nest, copy: StagedCopy, scope: Scope) -> Overread:
    """What a thread's own copy of a copy may read past its source's edge."""
    if copy.dst.buf.space is not Space.RM or not isinstance(scope.leaf, Point):
        return no_overread(nest)
    return overread(nest, copy.src, copy.key[1], nest.guards(scope), nest.declarations.slack)


def _lanes(nest: Nest, copy: StagedCopy, scope: Scope) -> int:
    """Widest vector of a copy: contiguous on both sides, and proven aligned (GPU) at every start."""
    dst, src = copy.dst, copy.src
    k = len(dst.axes) - 1
    if k < 0 or src.axes[k].packed or dst.axes[k].packed:
        return 1
    if dst.buf.strides[-1] != 1 or src.buf.strides[-1] != 1:
        return 1
    size = dst.buf.dtype.bytes
    whole = nest.cpu and not dst.buf.swizzle  # the chunks of a swizzle stay whole, what is wider does not
    fitting = (nest.machine.vector_bytes if whole else VECTOR_BYTES) // size
    widest = copy.staging.vec or max(1, min(fitting, VECTOR_LANES))
    if copy.staging.engine == Engine.ASYNC and copy.staging.vec is None:
        widest = VECTOR_BYTES // size
    n = widest
    while n > 1 and not _aligned(nest, copy, n, scope):
        n //= 2
    return n


def _aligned(nest: Nest, copy: StagedCopy, n: int, scope: Scope) -> bool:
    dst, src = copy.dst, copy.src
    k = len(dst.axes) - 1
    if dst.axes[k].extent % n:
        return False
    inside = in_bounds(nest, copy, (ZERO,) * (k + 1), scope)[0] is None
    if nest.cpu:
        return inside
    # with aligned starts, an edge at a multiple has each vector on one side
    if not inside and src.axes[k].extent % n:
        return False
    if copy.offset and copy.offset[k] % n:
        return False
    fixed = {v: Affine((), c) for v, c in scope.fixed.items()}
    low = src.axes[k].local(dst.axes[k].low).substitute(fixed)
    starts = [low.const, *(c for _, c in low.terms)]
    rows = [*dst.buf.strides[:-1], *src.buf.strides[:-1]]
    return all(x % n == 0 for x in (*starts, *rows))


# -- all threads of the block ------------------------------------------------------------------


def _cooperative(nest: Nest, copy: StagedCopy, scope: Scope) -> list[Stmt]:
    """Elements in source order, `lanes` at a time, dealt to the block's threads."""
    counts, width, lanes = copy_shape(nest, copy, scope)
    dealt = deal(nest, counts, f"c_{copy.staging.buffer}")
    coordinates = list(dealt.coordinates)
    if max(width, lanes) > 1:
        coordinates[-1] = scaled(coordinates[-1], max(width, lanes))
    if width < lanes:
        return wrap(dealt, _gathering(nest, copy, coordinates, lanes, scope))
    if width > lanes:
        return wrap(dealt, _transposing(nest, copy, coordinates, width, scope))
    return wrap(dealt, [_move(nest, copy, coordinates, lanes, scope)])


def copy_shape(nest: Nest, copy: StagedCopy, scope: Scope) -> tuple[list[int], int, int]:
    """(accesses per dim, elements a load, elements a store) of a copy that all threads share."""
    shape = [a.extent for a in copy.dst.axes]
    width = lanes = _lanes(nest, copy, scope)
    if lanes == 1 and copy.staging.engine == Engine.PLAIN:
        width = _gather_lanes(nest, copy, scope)
        lanes = _short_row(copy) if width == 1 else 1
    together = max(width, lanes)
    return ([*shape[:-1], shape[-1] // together] if shape else []), width, lanes


def _short_row(copy: StagedCopy) -> int:
    """Elements of a row of the copy that one access stores as a whole, such as the few channels of an image;
    1: none. They are loaded one by one, as they begin anywhere."""
    dst, vec = copy.dst, copy.staging.vec
    if not dst.axes or dst.axes[-1].packed or dst.buf.strides[-1] != 1 or vec is not None:
        return 1
    row = dst.axes[-1].extent
    whole = row * dst.buf.dtype.bytes in WORDS and not any(n % row for n in dst.buf.strides[:-1])
    return row if whole else 1


def _gather_lanes(nest: Nest, copy: StagedCopy, scope: Scope) -> int:
    """Vector width of the loads of a transposing copy, whose stores go one by one."""
    if copy.dst.buf.strides[-1] == 1 or copy.src.buf.space is not Space.DM or not copy.dst.axes:
        return 1
    dst = copy.dst
    row = replace(dst.buf, strides=(*(0,) * (len(dst.buf.shape) - 1), 1))
    return _lanes(nest, replace(copy, dst=replace(dst, buf=row)), scope)


def _gathering(nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope) -> list[Stmt]:
    """One load an element into registers, then a vector store."""
    name, var = nest.fresh(f"{copy.staging.buffer}_row"), nest.fresh("lane")
    held = Buf(name, Space.RM, copy.dst.buf.dtype, (lanes,), (1,), align=VECTOR_BYTES)
    dst, _ = addresses(nest, copy, coordinates, scope)
    _, src = addresses(nest, copy, [*coordinates[:-1], shifted_by(coordinates[-1], var)], scope)
    pred, _ = in_bounds(nest, copy, src, scope)
    load = Move(held.name, (Var(var),), copy.src.buf.name, src, 1, Engine.PLAIN, copy.staging.cache, pred)
    every = loop(var, lanes, (load,), ForKind.UNROLL)
    return [Alloc(held), every, Move(copy.dst.buf.name, dst, held.name, (ZERO,), lanes)]


def shifted_by(e: Expr, var: str) -> Expr:
    """e + var."""
    return Var(var) if e == ZERO else add(e, Var(var))


def _transposing(
    nest: Nest, copy: StagedCopy, coordinates: list[Expr], lanes: int, scope: Scope
) -> list[Stmt]:
    """A vector load into registers, then one store an element."""
    name = nest.fresh(f"{copy.staging.buffer}_row")
    held = Buf(name, Space.RM, copy.dst.buf.dtype, (lanes,), (1,), align=VECTOR_BYTES)
    dst, src = addresses(nest, copy, coordinates, scope)
    pred, _ = in_bounds(nest, copy, src, scope)
    zero = (ZERO,)
    out: list[Stmt] = [
        Alloc(held),
        Move(held.name, zero, copy.src.buf.name, src, lanes, Engine.PLAIN, copy.staging.cache, pred),
    ]
    var = nest.fresh("lane")
    store = Move(copy.dst.buf.name, (*dst[:-1], add(dst[-1], Var(var))), held.name, (Var(var),))
    return [*out, loop(var, lanes, (store,), ForKind.UNROLL)]
